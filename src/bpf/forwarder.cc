#include "bpf/forwarder.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

#include <cstring>
#include <set>

#include "base/error.h"
#include "bpf/program.h"
#include "sys/network/netns.h"

namespace viaduct::bpf {

struct Forwarder::State {
  explicit State(size_t port_count)
      : object(kForwardProgram, kForwardProgramSize, "viaduct_forward", {{"ports", port_count}}),
        ports(object.Map("ports")),
        own_addresses(object.Map("own_addresses")) {}

  Object object;
  int ports;  // descriptors of the object
  int own_addresses;
  std::set<uint32_t> own;  // in network byte order, as in the map
};

std::string WhyNot() {
  try {
    sys::InScratchNamespace([] { Forwarder(sys::OpenCurrentNamespace().get(), {{1}}); });
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

Forwarder::Forwarder(int namespace_fd, const std::vector<Port>& ports)
    : state_(std::make_unique<State>(ports.size())) {
  const sys::NamespaceScope scope(namespace_fd);  // ifindexes are a namespace's
  for (const Port& port : ports) {
    viaduct_port value{};
    value.is_wire = port.far_mac.has_value() ? 1 : 0;
    if (port.far_mac) {
      std::memcpy(value.far_mac, port.far_mac->bytes.data(), sizeof value.far_mac);
    }
    SystemCall("set up a port of the eBPF data plane",
               bpf_map_update_elem(state_->ports, &port.ifindex, &value, BPF_ANY));
  }
  for (const Port& port : ports) state_->object.Attach(port.ifindex);
}

Forwarder::~Forwarder() = default;

void Forwarder::SetOwnAddresses(const std::vector<wire::IpAddress>& addresses) {
  std::set<uint32_t> wanted;
  for (const wire::IpAddress& address : addresses) {
    uint32_t key = 0;
    if (address.family != wire::Family::kIpv4) continue;
    std::memcpy(&key, address.bytes.data(), sizeof key);
    wanted.insert(key);
  }
  const uint8_t present = 1;
  for (const uint32_t key : wanted) {
    SystemCall("store an address for the eBPF data plane",
               bpf_map_update_elem(state_->own_addresses, &key, &present, BPF_ANY));
  }
  for (const uint32_t key : state_->own) {
    if (!wanted.contains(key)) bpf_map_delete_elem(state_->own_addresses, &key);
  }
  state_->own = std::move(wanted);
}

viaduct_port Forwarder::CountersOf(int ifindex) const {
  viaduct_port port{};
  SystemCall(fmt::format("read the eBPF data plane's counters of interface {}", ifindex),
             bpf_map_lookup_elem(state_->ports, &ifindex, &port));
  return port;
}

Verdict Forwarder::Try(int ifindex, wire::ConstBytes frame) const {
  return state_->object.Try(ifindex, frame);
}

}  // namespace viaduct::bpf
