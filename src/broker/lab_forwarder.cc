#include "broker/lab_forwarder.h"

#include <fmt/format.h>
#include <signal.h>

#include <functional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "broker/lab_process.h"
#include "forward/forwarder.h"
#include "lab/record.h"
#include "sys/descriptors.h"
#include "sys/signals.h"

namespace viaduct::broker {
namespace {

// Until SIGTERM or SIGINT.
void Forward(std::vector<forward::Equipment> equipment, const std::function<void()>& ready) {
  const UniqueFd signals = sys::CatchSignals({SIGTERM, SIGINT});
  forward::Forwarder forwarder(std::move(equipment));
  ready();
  forwarder.Run(signals.get());
}

}  // namespace

LabForwarder::LabForwarder(lab::Lab& lab, const sys::Identity& owner, Nodes nodes)
    : lab_(lab),
      last_words_(fmt::format("{}/{}/{}", sys::kRunFolder, lab.name(), lab::kForwarderWordsFile)),
      owner_(owner),
      nodes_(std::move(nodes)) {
  Start();
}

void LabForwarder::Start() {
  LabProcess process{"viaduct-forward", "forwarder", -1, {}, last_words_, true};
  std::vector<forward::Equipment> equipment;
  for (const auto& [name, shared] : nodes_) {
    process.namespace_fd = lab_.NamespaceFd(name);
    equipment.push_back(forward::Equip(name, process.namespace_fd, shared));
    Keep(equipment.back());
    const std::vector<int> descriptors = equipment.back().Descriptors();
    process.keep.insert(process.keep.end(), descriptors.begin(), descriptors.end());
  }
  pid_ = StartLabProcess(process, owner_, [&](const std::function<void()>& ready) {
    Forward(std::move(equipment), ready);
  });
  ended.reset();
}

std::string LabForwarder::LastWords() const {
  constexpr size_t kMost = 500;
  std::string words = ReadFileIfAny(last_words_);
  while (words.ends_with('\n')) words.pop_back();
  return words.substr(words.rfind('\n') + 1, kMost);
}

void LabForwarder::Keep(const forward::Equipment& equipment) {
  for (size_t i = 0; i < equipment.ports.size(); ++i) {
    ports_[equipment.name].push_back(
        {equipment.ports[i].mac, sys::Duplicate(equipment.sockets[i].fd.get())});
  }
}

void LabForwarder::Refilter(const std::string& node) {
  const auto ports = ports_.find(node);
  if (ports == ports_.end()) return;
  const std::vector<sys::InterfaceAddress> own = lab_.NetlinkOf(node).Addresses();
  for (const Port& port : ports->second) {
    forward::SetFilter(nodes_.at(node).program, port.mac, own, port.socket.get());
  }
}

// The kernel takes some 20 ms to close a packet socket (packet_release(), synchronize_net()), for
// which neither the new forwarder waits nor the broker.
void LabForwarder::Restart() {
  ++restarts_;
  Ports old = std::exchange(ports_, {});
  Start();
  closing_ = std::jthread([old = std::move(old)]() mutable { old.clear(); });
}

}  // namespace viaduct::broker
