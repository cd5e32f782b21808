#include "bpf/joiner.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/error.h"
#include "bpf/program.h"
#include "sys/network/netns.h"

namespace viaduct::bpf {
namespace {

constexpr size_t kMostAddresses = 65536;
constexpr size_t kMostRequests = 64;  // whoever serves them has other work as well
constexpr size_t kMappedPrefix = 12;  // of an IPv4 address as an IPv6 address (RFC 4291, 2.5.5.2)

void Copy(const wire::MacAddress& mac, uint8_t* to) {
  std::memcpy(to, mac.bytes.data(), mac.bytes.size());
}

viaduct_join_key KeyOf(const PathKey& key) {
  viaduct_join_key raw{.port = static_cast<uint32_t>(key.port), .tos = key.tos, .destination = {}};
  const uint8_t* bytes = key.destination.bytes.data();
  if (key.destination.family == wire::Family::kIpv4) {
    raw.destination[10] = raw.destination[11] = 0xff;
    std::memcpy(raw.destination + kMappedPrefix, bytes, 4);
  } else {
    std::memcpy(raw.destination, bytes, sizeof raw.destination);
  }
  return raw;
}

PathKey KeyOf(const viaduct_join_key& raw) {
  static constexpr uint8_t kMapped[kMappedPrefix] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  PathKey key;
  key.port = static_cast<int>(raw.port);
  key.tos = static_cast<uint8_t>(raw.tos);
  const bool is_ipv4 = std::memcmp(raw.destination, kMapped, sizeof kMapped) == 0;
  key.destination.family = is_ipv4 ? wire::Family::kIpv4 : wire::Family::kIpv6;
  const size_t skipped = is_ipv4 ? kMappedPrefix : 0;
  std::memcpy(key.destination.bytes.data(), raw.destination + skipped,
              sizeof raw.destination - skipped);
  return key;
}

uint64_t CoarseNow() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

struct Joiner::State {
  explicit State(size_t wires)
      : object(kJoinProgram, kJoinProgramSize, "viaduct_join",
               {{"join_ports", 2 * wires},
                {"joined_paths", kMostPaths},
                {"joined_traffic", kMostPaths},
                {"router_addresses", kMostAddresses}}),
        ports(object.Map("join_ports")),
        paths(object.Map("joined_paths")),
        traffic(object.Map("joined_traffic")),
        addresses(object.Map("router_addresses")),
        events(ring_buffer__new(object.Map("join_events"), &State::OnEvent, this, nullptr),
               ring_buffer__free),
        processors(static_cast<size_t>(libbpf_num_possible_cpus())) {
    if (!events) throw SystemError("map the requests of joined paths", errno);
  }

  static int OnEvent(void* state, void* data, size_t) {
    auto& requests = static_cast<State*>(state)->requests;
    const auto* event = static_cast<const viaduct_join_event*>(data);
    requests.emplace(KeyOf(event->key), event->again != 0);
    return requests.size() < kMostRequests ? 0 : -1;
  }

  void SetPort(const JoinWire::End& end, const JoinWire::End& other) const {
    viaduct_join_port port{};
    port.other = static_cast<uint32_t>(other.ifindex);
    Copy(other.mac, port.far_mac);
    SystemCall("set up a wire of joined paths",
               bpf_map_update_elem(ports, &end.ifindex, &port, BPF_ANY));
  }

  Object object;
  int ports, paths, traffic, addresses;  // descriptors of the object
  std::unique_ptr<ring_buffer, void (*)(ring_buffer*)> events;
  size_t processors;
  std::map<PathKey, bool> requests;    // whether again
  std::map<uint32_t, uint32_t> known;  // routers by address, in network byte order
};

Joiner::Joiner(int hub_fd, const std::vector<JoinWire>& wires)
    : state_(std::make_unique<State>(wires.size())) {
  const sys::NamespaceScope scope(hub_fd);  // ifindexes are a namespace's
  for (const JoinWire& wire : wires) {
    state_->SetPort(wire.a, wire.b);
    state_->SetPort(wire.b, wire.a);
  }
  for (const JoinWire& wire : wires) {
    state_->object.Attach(wire.a.ifindex);
    state_->object.Attach(wire.b.ifindex);
  }
}

Joiner::~Joiner() = default;

int Joiner::Fd() const { return ring_buffer__epoll_fd(state_->events.get()); }

std::vector<PathRequest> Joiner::TakeRequests() {
  state_->requests.clear();
  ring_buffer__consume(state_->events.get());
  std::vector<PathRequest> requests;
  for (const auto& [key, again] : state_->requests) requests.push_back({key, again});
  return requests;
}

bool Joiner::Set(const PathKey& key, const JoinedPath& path) {
  viaduct_joined_path raw{};
  raw.hops = path.hops;
  raw.mtu = path.mtu;
  raw.exit = static_cast<uint32_t>(path.exit);
  raw.counter = path.counter;
  raw.looked = CoarseNow();
  Copy(path.enters, raw.enters);
  Copy(path.destination, raw.destination);
  Copy(path.source, raw.source);
  for (const uint32_t router : path.routers) {
    const uint32_t bit = router % VIADUCT_ROUTER_BITS;
    raw.routers[bit / 64] |= uint64_t{1} << (bit % 64);
  }
  const viaduct_join_key raw_key = KeyOf(key);
  if (bpf_map_update_elem(state_->paths, &raw_key, &raw, BPF_ANY) == 0) return true;
  if (errno == E2BIG) return false;
  throw SystemError("store a joined path", errno);
}

void Joiner::Remove(const PathKey& key) {
  const viaduct_join_key raw = KeyOf(key);
  bpf_map_delete_elem(state_->paths, &raw);
}

void Joiner::SetAddresses(const std::map<wire::IpAddress, uint32_t>& routers) {
  std::map<uint32_t, uint32_t> wanted;
  for (const auto& [address, router] : routers) {
    uint32_t key = 0;
    if (address.family != wire::Family::kIpv4) continue;
    std::memcpy(&key, address.bytes.data(), sizeof key);
    wanted[key] = router;
  }
  for (const auto& [key, router] : wanted) {
    const auto known = state_->known.find(key);
    if (known != state_->known.end() && known->second == router) continue;
    SystemCall("store a router's address",
               bpf_map_update_elem(state_->addresses, &key, &router, BPF_ANY));
  }
  for (const auto& [key, router] : state_->known) {
    if (!wanted.contains(key)) bpf_map_delete_elem(state_->addresses, &key);
  }
  state_->known = std::move(wanted);
}

void Joiner::SetFarMac(int port, const wire::MacAddress& mac) {
  viaduct_join_port value = CountersOf(port);
  Copy(mac, value.far_mac);
  SystemCall("change a wire of joined paths",
             bpf_map_update_elem(state_->ports, &port, &value, BPF_EXIST));
}

viaduct_joined_traffic Joiner::TrafficOf(uint32_t counter) const {
  std::vector<viaduct_joined_traffic> each(state_->processors);
  SystemCall("read the traffic of a joined path",
             bpf_map_lookup_elem(state_->traffic, &counter, each.data()));
  viaduct_joined_traffic sum{};
  for (const viaduct_joined_traffic& one : each) {
    sum.packets += one.packets;
    sum.bytes += one.bytes;
  }
  return sum;
}

void Joiner::ClearTraffic(uint32_t counter) {
  const std::vector<viaduct_joined_traffic> none(state_->processors);
  SystemCall("clear the traffic of a joined path",
             bpf_map_update_elem(state_->traffic, &counter, none.data(), BPF_ANY));
}

viaduct_join_port Joiner::CountersOf(int port) const {
  viaduct_join_port counters{};
  SystemCall("read the counters of a wire", bpf_map_lookup_elem(state_->ports, &port, &counters));
  return counters;
}

Verdict Joiner::Try(int port, wire::ConstBytes frame) const {
  return state_->object.Try(port, frame);
}

}  // namespace viaduct::bpf
