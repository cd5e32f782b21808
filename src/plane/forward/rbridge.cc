#include "plane/forward/rbridge.h"

#include <algorithm>

#include "plane/forward/hash.h"

namespace viaduct::forward {

RBridge::RBridge(const Node& node)
    : ports_(node.ports.size()), tables_(node.table), events_(node.events), told_(kTold) {}

size_t RBridge::Take(const Frame& frame, Outbox& outbox) {
  const rbridge::Tables& tables = tables_.Read();
  rbridge::Forward(tables, static_cast<rbridge::PortIndex>(frame.port), frame.bytes, decision_);
  if (decision_.seen && events_ != nullptr) Tell(*decision_.seen, tables);
  for (const rbridge::Output& output : decision_.sends()) Send(output, frame, outbox);
  return static_cast<size_t>(decision_.outcome);
}

void RBridge::Tell(const rbridge::Seen& seen, const rbridge::Tables& tables) {
  TerminalSeen told{.key = seen.key, .port = seen.location.port};
  if (seen.location.rbridge != 0) told.rbridge = tables.rbridges[seen.location.rbridge].nickname;
  const Event event = told.ToEvent();
  Told& last = told_[Mix(event.key) % kTold];
  if (last.event == event && last.version == tables_.Version()) return;
  if (events_->Write(event)) last = {event, tables_.Version()};
}

void RBridge::Send(const rbridge::Output& output, const Frame& frame, Outbox& outbox) const {
  if (output.port >= ports_) return;  // no such port: the tables are another node's
  const wire::ConstBytes head = output.head();
  const bool is_only_one = decision_.count == 1;
  if (is_only_one && output.strip >= head.size()) {
    const wire::Bytes sent = frame.bytes.subspan(output.strip - head.size());
    std::ranges::copy(head, sent.begin());
    outbox.Send(output.port, sent);
    return;
  }
  const wire::ConstBytes rest = frame.bytes.subspan(output.strip);
  const wire::Bytes made = outbox.Make(head.size() + rest.size());
  std::ranges::copy(rest, std::ranges::copy(head, made.begin()).out);
  outbox.Send(output.port, made);
}

}  // namespace viaduct::forward
