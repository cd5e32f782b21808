#include "plane/bpf/forward_program.h"

#include <fmt/format.h>

#include <cstring>
#include <set>
#include <span>

#include "base/error.h"
#include "plane/bpf/program.h"
#include "sys/network/netns.h"

namespace viaduct::bpf {

namespace {

// The maximum number of entries in the table of a node's ports, which is indexed by the lower bits
// of the ifindex. A node is refused if two of its ifindexes differ only above these 16 bits.
constexpr uint32_t kMaxPlaces = 65536;

// Returns the smallest power of two modulo which all ifindexes of the ports are different.
uint32_t PlacesFor(const std::vector<Interface>& ports) {
  for (uint32_t places = 1; places <= kMaxPlaces; places *= 2) {
    std::set<uint32_t> taken;
    for (const Interface& port : ports) taken.insert(static_cast<uint32_t>(port.ifindex) % places);
    if (taken.size() == ports.size()) return places;
  }
  throw EnvironmentError(
      "eBPF data plane: the interface indices of a node do not fit into the program's table; use "
      "another data_plane");
}

}  // namespace

viaduct_port Interface::ToValue() const {
  viaduct_port value{};
  value.ifindex = static_cast<uint32_t>(ifindex);
  value.is_wire = far_mac.has_value() ? 1 : 0;
  if (far_mac) std::memcpy(value.far_mac, far_mac->bytes.data(), sizeof value.far_mac);
  return value;
}

struct ForwardProgram::State {
  explicit State(uint32_t place_count)
      : place_mask(place_count - 1),
        object(kForwardProgram, "viaduct_forward",
               {{"ports", place_count}, {"port_counters", place_count}},
               std::as_bytes(std::span(&place_mask, 1))),
        ports(object.Map("ports")),
        counters(object.Map("port_counters")),
        own_addresses(object.Map("own_addresses")),
        own_filter(object.Map("own_filter")) {}

  void FilterOwn() const {
    viaduct_own_filter filter{};
    for (const uint32_t address : own) {
      const uint8_t hash = viaduct_own_hash(address);
      filter.bits[hash / 64] |= uint64_t{1} << (hash % 64);
    }
    const uint32_t only = 0;
    own_filter.Set(only, filter, "store the address filter of the eBPF data plane");
  }

  uint32_t place_mask;  // the only constant that the loader sets in the program
  Object object;
  Map ports, counters, own_addresses, own_filter;
  std::set<uint32_t> own;  // the node's own IPv4 addresses, in network byte order, as in the map
};

std::string Unavailable() {
  try {
    sys::InScratchNamespace([] { ForwardProgram(sys::OpenCurrentNamespace().get(), {{1}}); });
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

ForwardProgram::ForwardProgram(int namespace_fd, const std::vector<Interface>& ports)
    : state_(std::make_unique<State>(PlacesFor(ports))) {
  const sys::NamespaceScope scope(namespace_fd);  // an ifindex is valid in one namespace only
  for (const Interface& port : ports) {
    const uint32_t place = static_cast<uint32_t>(port.ifindex) & state_->place_mask;
    state_->ports.Set(place, port.ToValue(), "set up a port of the eBPF data plane");
  }
  for (const Interface& port : ports) state_->object.Attach(port.ifindex);
}

ForwardProgram::~ForwardProgram() = default;

void ForwardProgram::SetOwnAddresses(const std::vector<wire::IpAddress>& addresses) {
  std::set<uint32_t> wanted;
  for (const wire::IpAddress& address : addresses) {
    uint32_t key = 0;
    if (address.family != wire::Family::kIpv4) continue;
    std::memcpy(&key, address.bytes.data(), sizeof key);
    wanted.insert(key);
  }
  const uint8_t present = 1;
  for (const uint32_t key : wanted) {
    state_->own_addresses.Set(key, present, "store an address for the eBPF data plane");
  }
  for (const uint32_t key : state_->own) {
    if (!wanted.contains(key)) state_->own_addresses.Remove(key);
  }
  state_->own = std::move(wanted);
  state_->FilterOwn();
}

viaduct_port_counters ForwardProgram::CountersOf(int ifindex) const {
  const uint32_t place = static_cast<uint32_t>(ifindex) & state_->place_mask;
  const auto each = state_->counters.GetEach<viaduct_port_counters>(
      place, fmt::format("read the eBPF data plane's counters of interface {}", ifindex));
  viaduct_port_counters sum{};
  for (const viaduct_port_counters& one : each) {
    for (size_t i = 0; i < VIADUCT_OUTCOMES; ++i) sum.packets[i] += one.packets[i];
    sum.bytes += one.bytes;
  }
  return sum;
}

Verdict ForwardProgram::Try(int ifindex, wire::ConstBytes frame) const {
  return state_->object.Try(ifindex, frame);
}

}  // namespace viaduct::bpf
