#include "plane/bpf/joiner.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <set>

#include "base/error.h"
#include "plane/bpf/program.h"
#include "sys/bpf/ring.h"
#include "sys/network/netns.h"

namespace viaduct::bpf {
namespace {

constexpr size_t kMaxAddresses = 65536;
constexpr size_t kMaxRequests = 64;   // requests in one TakeRequests(): the caller has other work
constexpr size_t kMappedPrefix = 12;  // bytes before a mapped IPv4 address (RFC 4291, 2.5.5.2)

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

// Returns a wire's loss as the program's map stores it. Like RandomStream::Uniform(), the program
// uses the upper 53 bits of a random number.
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

// Returns the number of entries of the map of ports, which is indexed by ifindex.
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
      : object(kJoinProgram, "viaduct_join",
               {{"join_ports", PlacesOf(wires)},
                {"wire_losses", LossesOf(wires)},
                {"path_numbers", kMaxPaths},
                {"joined_paths", kMaxPaths},
                {"losses_on_way", kMaxPaths},
                {"joined_traffic", kMaxPaths},
                {"router_addresses", kMaxAddresses}}),
        ports(object.Map("join_ports")),
        numbers(object.Map("path_numbers")),
        paths(object.Map("joined_paths")),
        losses_on_way(object.Map("losses_on_way")),
        traffic(object.Map("joined_traffic")),
        addresses(object.Map("router_addresses")),
        losses(object.Map("wire_losses")),
        too_bigs(object.Map("too_bigs")),
        ring(
            object.Map("join_requests"),
            [this](const void* event) {
              requests.insert(KeyOf(*static_cast<const viaduct_join_key*>(event)));
              return requests.size() < kMaxRequests;
            },
            "map the request buffer of data plane joined") {}

  void SetPort(const JoinWire::End& end, const JoinWire::End& other) {
    viaduct_join_port port{};
    port.other = static_cast<uint32_t>(other.ifindex);
    Copy(other.mac, port.far_mac);
    if (end.loss) {
      const auto number = static_cast<uint32_t>(loss_numbers.size());
      losses.Set(number, RawLoss(*end.loss), "set up the losses of a link for data plane joined");
      loss_numbers[end.ifindex] = number;
      port.loss = number + 1;
    }
    ports.Set(end.ifindex, port, "set up a link for data plane joined");
  }

  // Writes the lossy wires of a path into the program's map. Returns the index of the first wire,
  // or VIADUCT_NO_LOSS.
  uint32_t SetLossesOnWay(const std::vector<int>& ends, const std::vector<uint32_t>& places) const {
    uint32_t next = VIADUCT_NO_LOSS;
    for (size_t i = ends.size(); i > 0; --i) {
      const viaduct_loss_on_way wire{loss_numbers.at(ends[i - 1]), next};
      next = places.at(i - 1);
      losses_on_way.Set(next, wire, "store the losses of a link for data plane joined");
    }
    return next;
  }

  Object object;
  Map ports, numbers, paths, losses_on_way, traffic, addresses, losses, too_bigs;
  Ring ring;
  std::set<PathKey> requests;
  std::map<int, uint32_t> loss_numbers;  // indexes of wires' losses, keyed by the port's ifindex
  std::map<uint32_t, uint32_t> known;    // router numbers, keyed by address in network byte order
};

std::string JoinerUnavailable() {
  try {
    sys::InScratchNamespace([] { Joiner(sys::OpenCurrentNamespace().get(), {}); });
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

Joiner::Joiner(int hub_fd, const std::vector<JoinWire>& wires)
    : state_(std::make_unique<State>(wires)) {
  const sys::NamespaceScope scope(hub_fd);  // an ifindex is valid in one namespace only
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

int Joiner::fd() const { return state_->ring.fd(); }

std::vector<PathKey> Joiner::TakeRequests() {
  state_->requests.clear();
  state_->ring.Read();
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
  state_->paths.Set(counters.passed, raw, "store a joined path");
  if (state_->numbers.TrySet(raw.key, counters.passed)) return true;
  if (errno == E2BIG) return false;
  throw SystemError("store the number of a joined path", errno);
}

void Joiner::Remove(const PathKey& key) { state_->numbers.Remove(KeyOf(key)); }

uint64_t Joiner::TooBigs() const {
  constexpr uint32_t kFirst = 0;
  return state_->too_bigs.Get<uint64_t>(kFirst, "read the number of path MTU messages");
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
    state_->addresses.Set(key, router, "store a router's address");
  }
  for (const auto& [key, router] : state_->known) {
    if (!wanted.contains(key)) state_->addresses.Remove(key);
  }
  state_->known = std::move(wanted);
}

void Joiner::SetFarMac(int port, const wire::MacAddress& mac) {
  viaduct_join_port value = CountersOf(port);
  Copy(mac, value.far_mac);
  state_->ports.Replace(port, value, "change a link for data plane joined");
}

viaduct_joined_traffic Joiner::TrafficOf(uint32_t counter) const {
  viaduct_joined_traffic sum{};
  for (const auto& one : state_->traffic.GetEach<viaduct_joined_traffic>(
           counter, "read the traffic of a joined path")) {
    sum.packets += one.packets;
    sum.bytes += one.bytes;
  }
  return sum;
}

void Joiner::ClearTraffic(uint32_t counter) {
  state_->traffic.SetEach(counter, viaduct_joined_traffic{}, "clear the traffic of a joined path");
}

viaduct_join_port Joiner::CountersOf(int port) const {
  return state_->ports.Get<viaduct_join_port>(port,
                                              "read the counters of a link for data plane joined");
}

std::optional<viaduct_wire_loss> Joiner::LossOf(int port) const {
  const auto number = state_->loss_numbers.find(port);
  if (number == state_->loss_numbers.end()) return std::nullopt;
  return state_->losses.GetLocked<viaduct_wire_loss>(
      number->second, "read the losses of a link for data plane joined");
}

}  // namespace viaduct::bpf
