#include "bpf/joiner.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <set>

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

// RandomStream::Uniform() makes a number of the upper 53 bits.
viaduct_wire_loss RawLoss(const RandomLoss& loss) {
  viaduct_wire_loss raw{};
  const auto state = std::bit_cast<std::array<uint64_t, 4>>(loss.random);
  std::ranges::copy(state, raw.random);
  raw.threshold = static_cast<uint64_t>(std::ceil(loss.probability * 0x1p53));
  return raw;
}

size_t LossesOf(const std::vector<JoinWire>& wires) {
  size_t count = 0;
  for (const JoinWire& wire : wires) count += wire.a.loss.has_value() + wire.b.loss.has_value();
  return count;
}

// Those of ports, by ifindex.
size_t PlacesOf(const std::vector<JoinWire>& wires) {
  int last = 0;
  for (const JoinWire& wire : wires) last = std::max({last, wire.a.ifindex, wire.b.ifindex});
  return static_cast<size_t>(last) + 1;
}

uint64_t CoarseNow() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

struct Joiner::State {
  explicit State(const std::vector<JoinWire>& wires)
      : object(kJoinProgram, kJoinProgramSize, "viaduct_join",
               {{"join_ports", PlacesOf(wires)},
                {"wire_losses", LossesOf(wires)},
                {"path_numbers", kMostPaths},
                {"joined_paths", kMostPaths},
                {"losses_on_way", kMostPaths},
                {"joined_traffic", kMostPaths},
                {"router_addresses", kMostAddresses}}),
        ports(object.Map("join_ports")),
        numbers(object.Map("path_numbers")),
        paths(object.Map("joined_paths")),
        losses_on_way(object.Map("losses_on_way")),
        traffic(object.Map("joined_traffic")),
        addresses(object.Map("router_addresses")),
        losses(object.Map("wire_losses")),
        too_bigs(object.Map("too_bigs")),
        ring(ring_buffer__new(object.Map("join_requests"), &State::OnRequest, this, nullptr),
             ring_buffer__free),
        processors(static_cast<size_t>(libbpf_num_possible_cpus())) {
    if (!ring) throw SystemError("map the requests of joined paths", errno);
  }

  static int OnRequest(void* state, void* data, size_t) {
    auto& requests = static_cast<State*>(state)->requests;
    requests.insert(KeyOf(*static_cast<const viaduct_join_key*>(data)));
    return requests.size() < kMostRequests ? 0 : -1;
  }

  void SetPort(const JoinWire::End& end, const JoinWire::End& other) {
    viaduct_join_port port{};
    port.other = static_cast<uint32_t>(other.ifindex);
    Copy(other.mac, port.far_mac);
    if (end.loss) {
      const auto number = static_cast<uint32_t>(loss_numbers.size());
      const viaduct_wire_loss loss = RawLoss(*end.loss);
      SystemCall("set up the losses of a wire",
                 bpf_map_update_elem(losses, &number, &loss, BPF_ANY));
      loss_numbers[end.ifindex] = number;
      port.loss = number + 1;
    }
    SystemCall("set up a wire of joined paths",
               bpf_map_update_elem(ports, &end.ifindex, &port, BPF_ANY));
  }

  // Returns the first.
  uint32_t SetLossesOnWay(const std::vector<int>& ends, const std::vector<uint32_t>& places) const {
    uint32_t next = VIADUCT_NO_LOSS;
    for (size_t i = ends.size(); i > 0; --i) {
      const viaduct_loss_on_way wire{loss_numbers.at(ends[i - 1]), next};
      next = places.at(i - 1);
      SystemCall("store a wire that loses",
                 bpf_map_update_elem(losses_on_way, &next, &wire, BPF_ANY));
    }
    return next;
  }

  Object object;
  int ports, numbers, paths, losses_on_way, traffic, addresses, losses,
      too_bigs;  // descriptors of the object
  std::unique_ptr<ring_buffer, void (*)(ring_buffer*)> ring;
  size_t processors;
  std::set<PathKey> requests;
  std::map<int, uint32_t> loss_numbers;  // by port
  std::map<uint32_t, uint32_t> known;    // routers by address, in network byte order
};

std::string WhyNotJoined() {
  try {
    sys::InScratchNamespace([] { Joiner(sys::OpenCurrentNamespace().get(), {}); });
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

Joiner::Joiner(int hub_fd, const std::vector<JoinWire>& wires)
    : state_(std::make_unique<State>(wires)) {
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

int Joiner::Fd() const { return ring_buffer__epoll_fd(state_->ring.get()); }

std::vector<PathKey> Joiner::TakeRequests() {
  state_->requests.clear();
  ring_buffer__consume(state_->ring.get());
  return {state_->requests.begin(), state_->requests.end()};
}

bool Joiner::Set(const PathKey& key, const JoinedPath& path, const PathCounters& counters) {
  viaduct_joined_path raw{};
  raw.key = KeyOf(key);
  raw.hops = path.hops;
  raw.mtu = path.mtu;
  raw.exit = static_cast<uint32_t>(path.exit);
  raw.looked = CoarseNow();
  Copy(path.enters, raw.enters);
  Copy(path.destination, raw.destination);
  Copy(path.source, raw.source);
  for (const uint32_t router : path.routers) {
    const uint32_t bit = router % VIADUCT_ROUTER_BITS;
    raw.routers[bit / 64] |= uint64_t{1} << (bit % 64);
  }
  raw.too_bigs = path.too_bigs;
  raw.first_loss = state_->SetLossesOnWay(path.lossy_ends, counters.lost);
  SystemCall("store a joined path",
             bpf_map_update_elem(state_->paths, &counters.passed, &raw, BPF_ANY));
  if (bpf_map_update_elem(state_->numbers, &raw.key, &counters.passed, BPF_ANY) == 0) return true;
  if (errno == E2BIG) return false;
  throw SystemError("store the number of a joined path", errno);
}

void Joiner::Remove(const PathKey& key) {
  const viaduct_join_key raw = KeyOf(key);
  bpf_map_delete_elem(state_->numbers, &raw);
}

uint64_t Joiner::TooBigs() const {
  const uint32_t first = 0;
  uint64_t count = 0;
  SystemCall("count messages of path MTUs", bpf_map_lookup_elem(state_->too_bigs, &first, &count));
  return count;
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

std::optional<viaduct_wire_loss> Joiner::LossOf(int port) const {
  const auto number = state_->loss_numbers.find(port);
  if (number == state_->loss_numbers.end()) return std::nullopt;
  viaduct_wire_loss loss{};
  SystemCall("read the losses of a wire",
             bpf_map_lookup_elem_flags(state_->losses, &number->second, &loss, BPF_F_LOCK));
  return loss;
}

}  // namespace viaduct::bpf
