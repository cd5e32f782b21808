#include "plane/bpf/rbridge_program.h"

#include <fmt/format.h>

#include "base/error.h"
#include "plane/bpf/program.h"
#include "sys/bpf/object.h"
#include "sys/bpf/ring.h"
#include "sys/network/netns.h"

namespace viaduct::bpf {
namespace {

constexpr size_t kMaxEvents = 256;  // events in one TakeEvents(): the caller has other work

}  // namespace

struct RBridgeProgram::State {
  State()
      : object(kRBridgeProgram, "viaduct_rbridge", {}),
        interfaces(object.Map("rbridge_interfaces")),
        outputs(object.Map("rbridge_outputs")),
        ring(
            object.Map("rbridge_events"),
            [this](const void* event) {
              events.push_back(*static_cast<const viaduct_rbridge_event*>(event));
              return events.size() < kMaxEvents;
            },
            "map the event buffer of an RBridge's eBPF data plane") {}

  void AddPort(uint32_t number, const Interface& port) {
    static constexpr const char* kDoing = "set up a port of an RBridge's eBPF data plane";
    const viaduct_rbridge_interface counters{
        .port = number, .reserved = 0, .frames = {}, .bytes = 0, .not_sent = 0};
    interfaces.SetEach(port.ifindex, counters, kDoing);
    outputs.Set(number, port.ToValue(), kDoing);
  }

  Object object;
  Map interfaces, outputs;
  Ring ring;
  std::vector<viaduct_rbridge_event> events;
};

std::string RBridgeUnavailable() {
  try {
    sys::InScratchNamespace([] { RBridgeProgram(sys::OpenCurrentNamespace().get(), {{1}}); });
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

RBridgeProgram::RBridgeProgram(int namespace_fd, const std::vector<Interface>& ports)
    : state_(std::make_unique<State>()) {
  const sys::NamespaceScope scope(namespace_fd);  // an ifindex is valid in one namespace only
  for (size_t i = 0; i < ports.size(); ++i) {
    state_->AddPort(static_cast<uint32_t>(i), ports[i]);
  }
  for (const Interface& port : ports) state_->object.Attach(port.ifindex);
}

RBridgeProgram::~RBridgeProgram() = default;

int RBridgeProgram::TablesFd() const { return state_->object.Map("rbridge_shared").fd(); }

int RBridgeProgram::EventsFd() const { return state_->ring.fd(); }

std::vector<viaduct_rbridge_event> RBridgeProgram::TakeEvents() {
  state_->events.clear();
  state_->ring.Read();
  return state_->events;
}

viaduct_rbridge_interface RBridgeProgram::CountersOf(int ifindex) const {
  const auto each = state_->interfaces.GetEach<viaduct_rbridge_interface>(
      ifindex, fmt::format("read the eBPF data plane's counters of interface {}", ifindex));
  viaduct_rbridge_interface sum{};
  sum.port = each.front().port;
  for (const viaduct_rbridge_interface& one : each) {
    for (size_t i = 0; i < VIADUCT_RBRIDGE_OUTCOMES; ++i) sum.frames[i] += one.frames[i];
    sum.bytes += one.bytes;
    sum.not_sent += one.not_sent;
  }
  return sum;
}

}  // namespace viaduct::bpf
