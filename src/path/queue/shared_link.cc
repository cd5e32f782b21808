#include "path/queue/shared_link.h"

#include <fmt/format.h>

#include "base/error.h"
#include "path/queue/fifo_queue.h"

namespace viaduct::path {
namespace {

// A queue for a link without a rate: no packet waits for such a link.
class NoQueue : public QueueDiscipline {
 public:
  void Enqueue(Packet packet, Instant now, DropSink&) override {
    packet.ready = now;
    waiting_.Push(packet);
  }
  std::optional<Packet> Dequeue(Instant, DropSink&) override {
    if (waiting_.Empty()) return std::nullopt;
    const Packet packet = *waiting_.Front();
    waiting_.PopFront();
    return packet;
  }
  bool Empty() const override { return waiting_.Empty(); }
  uint64_t packets() const override { return waiting_.packets(); }
  uint64_t bytes() const override { return waiting_.bytes(); }

 private:
  MemoryFifo waiting_;
};

}  // namespace

SharedLink::SharedLink(std::string name)
    : name_(std::move(name)),
      bottleneck_(std::make_unique<NoQueue>(), std::make_unique<UnlimitedRate>()) {}

uint32_t SharedLink::Join(User* user) {
  users_.push_back(user);
  return static_cast<uint32_t>(users_.size() - 1);
}

void SharedLink::Check(uint32_t user, const LinkSpec& link, const QueueSpec& queue) const {
  const bool same = link == link_ && queue == queue_;
  const bool alone = definers_.empty() || (definers_.size() == 1 && definers_.contains(user));
  const bool gives_none = !link.HasRate() && !definers_.contains(user);
  if (same || alone || gives_none) return;
  throw UsageError(
      fmt::format("SPEC: link={}: another SPEC also sets the rate of this link; set and change "
                  "rate, queue and so on in only one of the SPECs that share the link, or set "
                  "equal values in all SPECs that set these keys",
                  name_));
}

void SharedLink::Define(uint32_t user, const LinkSpec& link, const QueueSpec& queue,
                        std::unique_ptr<RateServer> server,
                        std::unique_ptr<QueueDiscipline> discipline, Instant now) {
  const bool agrees = !definers_.empty() && link == link_ && queue == queue_;
  definers_.insert(user);
  if (agrees) return;
  link_ = link;
  queue_ = queue;
  caller_ = user;
  Install(std::move(server), std::move(discipline), now);
}

// Installs a rate and a queue (null: unchanged). Before the link has begun, they form a new
// bottleneck, so that a trace begins with the path.
void SharedLink::Install(std::unique_ptr<RateServer> server,
                         std::unique_ptr<QueueDiscipline> discipline, Instant now) {
  if (!begun_) {
    bottleneck_ = Bottleneck(std::move(discipline), std::move(server));
    return;
  }
  if (server) bottleneck_.ChangeLink(std::move(server), now);
  if (discipline) bottleneck_.ChangeQueue(std::move(discipline), now);
}

void SharedLink::Undefine(uint32_t user, Instant now) {
  if (definers_.erase(user) == 0) return;
  caller_ = user;
  Install(std::make_unique<UnlimitedRate>(), std::make_unique<NoQueue>(), now);
}

void SharedLink::Begin(Instant now) {
  begun_ = true;
  bottleneck_.Begin(now);
}

void SharedLink::Push(uint32_t user, Packet packet, Instant now) {
  begun_ = true;
  caller_ = user;
  packet.turn = user;
  bottleneck_.Push(packet, now, *this);
}

void SharedLink::Advance(uint32_t user, Instant now) {
  caller_ = user;
  while (const auto packet = bottleneck_.Pop(now, *this)) users_[packet->turn]->Left(*packet);
}

void SharedLink::Drop(const Packet& packet, Fate cause, Instant at) {
  users_[packet.turn]->Dropped(packet, cause, at);
}

SharedLink& SharedLinks::Of(const std::string& name) {
  return links_.try_emplace(name, name).first->second;
}

void SharedLinks::Check() const {
  for (const auto& [name, link] : links_) {
    if (link.IsDefined()) continue;
    throw UsageError(fmt::format(
        "SPEC: link={}: the link has no rate; set rate= in one of the SPECs that share the link",
        name));
  }
}

}  // namespace viaduct::path
