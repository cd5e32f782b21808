#include "bpf/rbridge_program.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>

#include "base/error.h"
#include "bpf/object.h"
#include "bpf/program.h"
#include "sys/network/netns.h"

namespace viaduct::bpf {
namespace {

constexpr size_t kMostEvents = 256;  // whoever takes them has other work as well

}  // namespace

struct RBridgeProgram::State {
  State()
      : object(kRBridgeProgram, kRBridgeProgramSize, "viaduct_rbridge", {}),
        interfaces(object.Map("rbridge_interfaces")),
        outputs(object.Map("rbridge_outputs")),
        ring(ring_buffer__new(object.Map("rbridge_events"), &State::OnEvent, this, nullptr),
             ring_buffer__free) {
    if (!ring) throw SystemError("map the events of an RBridge's eBPF data plane", errno);
  }

  static int OnEvent(void* state, void* data, size_t) {
    auto& events = static_cast<State*>(state)->events;
    events.push_back(*static_cast<const viaduct_rbridge_event*>(data));
    return events.size() < kMostEvents ? 0 : -1;
  }

  void AddPort(uint32_t number, const Port& port) {
    const std::vector<viaduct_rbridge_interface> values(
        static_cast<size_t>(libbpf_num_possible_cpus()),
        {.port = number, .reserved = 0, .frames = {}, .bytes = 0, .not_sent = 0});
    const viaduct_port output = port.ToValue();
    SystemCall("set up a port of an RBridge's eBPF data plane",
               bpf_map_update_elem(interfaces, &port.ifindex, values.data(), BPF_ANY));
    SystemCall("set up a port of an RBridge's eBPF data plane",
               bpf_map_update_elem(outputs, &number, &output, BPF_ANY));
  }

  Object object;
  int interfaces, outputs;  // descriptors of the object
  std::unique_ptr<ring_buffer, void (*)(ring_buffer*)> ring;
  std::vector<viaduct_rbridge_event> events;
};

std::string WhyNoRBridge() {
  try {
    sys::InScratchNamespace([] { RBridgeProgram(sys::OpenCurrentNamespace().get(), {{1}}); });
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

RBridgeProgram::RBridgeProgram(int namespace_fd, const std::vector<Port>& ports)
    : state_(std::make_unique<State>()) {
  const sys::NamespaceScope scope(namespace_fd);  // ifindexes are a namespace's
  for (size_t i = 0; i < ports.size(); ++i) {
    state_->AddPort(static_cast<uint32_t>(i), ports[i]);
  }
  for (const Port& port : ports) state_->object.Attach(port.ifindex);
}

RBridgeProgram::~RBridgeProgram() = default;

int RBridgeProgram::TablesFd() const { return state_->object.Map("rbridge_shared"); }

int RBridgeProgram::EventsFd() const { return ring_buffer__epoll_fd(state_->ring.get()); }

std::vector<viaduct_rbridge_event> RBridgeProgram::TakeEvents() {
  state_->events.clear();
  ring_buffer__consume(state_->ring.get());
  return state_->events;
}

viaduct_rbridge_interface RBridgeProgram::CountersOf(int ifindex) const {
  std::vector<viaduct_rbridge_interface> each(static_cast<size_t>(libbpf_num_possible_cpus()));
  SystemCall(fmt::format("read the eBPF data plane's counters of interface {}", ifindex),
             bpf_map_lookup_elem(state_->interfaces, &ifindex, each.data()));
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
