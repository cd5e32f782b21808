// Tests every data plane on a diamond of routers. With routes of equal cost, the packets of a flow
// take one path and stay in order, flows are spread over the paths, and a flow keeps its path as
// long as the path remains. Tests also routes in a loop, and routes that change continuously. Needs
// root.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "base/clock.h"
#include "base/socket_option.h"
#include "lab/broker/client.h"
#include "plane/bpf/forward_program.h"
#include "plane/fib/data_plane.h"

namespace viaduct::broker {
namespace {

using wire::Family;

constexpr int kFlows = 64;  // one destination address per flow, because the kernel hashes addresses
constexpr uint16_t kDiamondPort = 5000;
// The TTLs at arrival, which identify the path: three routers on the path through b, four through
// c.
constexpr int kByB = 61, kByC = 60;

struct DiamondLink {
  const char* first;
  const char* second;
};
// The links, by number. The number is part of the interface names ("eth2") and addresses (10.1.2.1,
// 2001:db8:2::1) of a link. Both paths from a to e are configured with the same cost.
constexpr std::array<DiamondLink, 7> kDiamond{
    {{"s", "a"}, {"a", "b"}, {"a", "c"}, {"c", "x"}, {"b", "e"}, {"x", "e"}, {"e", "d"}}};
constexpr size_t kLastLink = kDiamond.size() - 1;

std::string AddressOnDiamond(Family family, size_t link, int host) {
  return family == Family::kIpv4 ? fmt::format("10.1.{}.{}", link, host)
                                 : fmt::format("2001:db8:{}::{:x}", link, host);
}

lab::Interface InterfaceOnDiamond(size_t link, int side) {
  lab::Interface interface;
  interface.name = fmt::format("eth{}", link);
  interface.mac = wire::MacAddress::Parse(fmt::format("02:00:00:02:{:02x}:{:02x}", link, side));
  const bool is_far_end = link == kLastLink && side == 2;
  for (int i = 0; i < (is_far_end ? kFlows : 1); ++i) {
    for (const Family family : {Family::kIpv4, Family::kIpv6}) {
      const int length = family == Family::kIpv4 ? 24 : 64;
      interface.addresses.push_back(wire::IpPrefix::Parse(
          fmt::format("{}/{}", AddressOnDiamond(family, link, side + i), length)));
    }
  }
  return interface;
}

lab::Topology Diamond(const fib::DataPlane& plane) {
  lab::Topology topology;
  topology.name = fmt::format("dia{}", getpid());
  std::map<std::string, lab::Node> nodes;
  for (size_t i = 0; i < kDiamond.size(); ++i) {
    const std::string interface = fmt::format("eth{}", i);
    const auto& [first, second] = kDiamond[i];
    for (const auto& [name, side] : {std::pair(first, 1), std::pair(second, 2)}) {
      lab::Node& node = nodes.try_emplace(name, lab::Node{name, &plane, {}, {}, {}}).first->second;
      node.interfaces.push_back(InterfaceOnDiamond(i, side));
    }
    topology.links.push_back({fmt::format("l{}", i),
                              lab::Link::Kind::kPair,
                              {{first, interface}, {second, interface}},
                              {}});
  }
  for (auto& [name, node] : nodes) topology.nodes.push_back(std::move(node));
  return topology;
}

// The path of each flow, as the TTL of its packets at arrival; the key is the flow's number.
using Ways = std::map<int, int>;

class DiamondTest : public testing::TestWithParam<std::tuple<const fib::DataPlane*, Family>> {
 protected:
  struct Arrival {
    int flow, number, ttl;
  };

  void SetUp() override {
    const fib::DataPlane& plane = *std::get<0>(GetParam());
    family_ = std::get<1>(GetParam());
    if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
    const bool has_program = &plane == &fib::kEbpfPlane || plane.layout.joins_paths;
    if (const std::string why = bpf::Unavailable(); has_program && !why.empty())
      GTEST_SKIP() << why;
    client_.emplace(Client::ConnectOrSpawn());
    client_->CreateLab(Diamond(plane));
    from_ = client_->OpenTransportSocket({"s", family_, TransportSocketOptions::Kind::kUdp});
    to_ = client_->OpenTransportSocket({"d", family_, TransportSocketOptions::Kind::kUdp});
    const bool is_ipv6 = family_ == Family::kIpv6;
    SetSocketOption(to_.get(), is_ipv6 ? IPPROTO_IPV6 : IPPROTO_IP,
                    is_ipv6 ? IPV6_RECVHOPLIMIT : IP_RECVTTL, 1, "the TTL");
    const auto [address, length] = SocketAddress(wire::IpAddress{family_, {}});
    ASSERT_EQ(bind(to_.get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
    for (const auto& [node, link, neighbour] : {std::tuple("s", 0, 2), std::tuple("b", 4, 2),
                                                std::tuple("c", 3, 2), std::tuple("x", 5, 2)}) {
      client_->ApplyRoutes(
          node, {.replaced = {}, .added = {RouteBy({{link, neighbour}})}, .removed = {}});
    }
  }

  // Next hops: pairs of a link's number and the neighbour's host number on the link.
  using Hops = std::vector<std::pair<int, int>>;

  fib::Route RouteBy(const Hops& hops) const {
    fib::Route route;
    route.destination = wire::IpPrefix::Parse(fmt::format(
        "{}/{}", AddressOnDiamond(family_, kLastLink, 0), family_ == Family::kIpv4 ? 24 : 64));
    for (const auto& [link, host] : hops) {
      route.next_hops.push_back(
          {wire::IpAddress::Parse(AddressOnDiamond(family_, static_cast<size_t>(link), host)),
           fmt::format("eth{}", link)});
    }
    return route;
  }

  std::pair<sockaddr_storage, socklen_t> SocketAddress(const wire::IpAddress& address) const {
    sockaddr_storage storage{};
    if (family_ == Family::kIpv4) {
      auto& ipv4 = reinterpret_cast<sockaddr_in&>(storage);
      ipv4.sin_family = AF_INET;
      ipv4.sin_port = htons(kDiamondPort);
      std::memcpy(&ipv4.sin_addr, address.bytes.data(), sizeof ipv4.sin_addr);
      return {storage, sizeof ipv4};
    }
    auto& ipv6 = reinterpret_cast<sockaddr_in6&>(storage);
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htons(kDiamondPort);
    std::memcpy(&ipv6.sin6_addr, address.bytes.data(), sizeof ipv6.sin6_addr);
    return {storage, sizeof ipv6};
  }

  void Send(int flow, int number) const {
    const auto [address, length] =
        SocketAddress(wire::IpAddress::Parse(AddressOnDiamond(family_, kLastLink, 2 + flow)));
    const std::array<int, 2> words{flow, number};
    // A full neighbour queue may refuse the packet; the tests count such a packet as lost.
    sendto(from_.get(), words.data(), sizeof words, 0, reinterpret_cast<const sockaddr*>(&address),
           length);
  }

  // Returns the next packet that arrives within `milliseconds`, or nothing.
  std::optional<Arrival> Receive(int milliseconds) const {
    pollfd wait{to_.get(), POLLIN, 0};
    if (poll(&wait, 1, milliseconds) <= 0) return std::nullopt;
    std::array<int, 2> words{};
    iovec part{words.data(), sizeof words};
    alignas(cmsghdr) std::array<char, 256> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (recvmsg(to_.get(), &message, 0) != sizeof words) return std::nullopt;
    Arrival arrival{words[0], words[1], 0};
    for (cmsghdr* one = CMSG_FIRSTHDR(&message); one; one = CMSG_NXTHDR(&message, one)) {
      std::memcpy(&arrival.ttl, CMSG_DATA(one), sizeof arrival.ttl);
    }
    return arrival;
  }

  // Waits until a packet of every flow arrives and the packets have taken exactly the paths `ways`.
  // When this function returns, all neighbours are resolved and all route changes are in effect on
  // every node.
  void Settle(const std::set<int>& ways) const {
    const Instant end = MonotonicClock::Now() + Duration::Seconds(30);
    std::set<int> seen, arrived;
    do {
      ASSERT_LT(MonotonicClock::Now(), end) << arrived.size() << " flows arrive";
      seen.clear();
      arrived.clear();
      for (int flow = 0; flow < kFlows; ++flow) Send(flow, 0);
      while (const auto arrival = Receive(100)) {
        seen.insert(arrival->ttl);
        arrived.insert(arrival->flow);
      }
    } while (arrived.size() < kFlows || seen != ways);
  }

  // Sends packets of all flows and returns the path of each flow. Expects that all packets of a
  // flow take one path and arrive in order.
  Ways SendFlows() const {
    constexpr int kPackets = 20;
    for (int number = 1; number <= kPackets; ++number) {
      for (int flow = 0; flow < kFlows; ++flow) Send(flow, number);
      usleep(2000);
    }
    Ways ways;
    std::map<int, int> last;
    while (const auto arrival = Receive(200)) {
      EXPECT_EQ(arrival->number, last[arrival->flow] + 1) << "flow " << arrival->flow;
      last[arrival->flow] = arrival->number;
      const auto [way, is_first] = ways.try_emplace(arrival->flow, arrival->ttl);
      EXPECT_EQ(way->second, arrival->ttl) << "flow " << arrival->flow;
    }
    EXPECT_EQ(last.size(), size_t{kFlows});
    for (const auto& [flow, number] : last) EXPECT_EQ(number, kPackets) << "flow " << flow;
    return ways;
  }

  static std::map<int, int> CountOf(const Ways& ways) {
    std::map<int, int> count;
    for (const auto& [flow, way] : ways) ++count[way];
    return count;
  }

  void Replace(const Hops& hops) {
    client_->ApplyRoutes("a", {.replaced = {RouteBy(hops)}, .added = {}, .removed = {}});
  }

  Family family_ = Family::kIpv4;
  std::optional<Client> client_;
  UniqueFd from_, to_;
  const Hops both_{{1, 2}, {2, 2}}, only_b_{{1, 2}}, only_c_{{2, 2}};
};

TEST_P(DiamondTest, FlowsStayTogetherAndSpread) {
  client_->ApplyRoutes("a", {.replaced = {}, .added = {RouteBy(both_)}, .removed = {}});
  Settle({kByB, kByC});
  const Ways ways = SendFlows();
  EXPECT_THAT(CountOf(ways), testing::ElementsAre(testing::Pair(kByC, testing::Ge(kFlows / 8)),
                                                  testing::Pair(kByB, testing::Ge(kFlows / 8))));
  EXPECT_EQ(SendFlows(), ways);
}

TEST_P(DiamondTest, AHopThatGoesMovesItsFlowsOnly) {
  client_->ApplyRoutes("a", {.replaced = {}, .added = {RouteBy(both_)}, .removed = {}});
  Settle({kByB, kByC});
  const Ways before = SendFlows();
  // Changes the routes while no packet is on its way. A flow must keep its path as long as the path
  // exists.
  Replace(only_c_);
  EXPECT_THAT(CountOf(SendFlows()), testing::ElementsAre(testing::Pair(kByC, kFlows)));
  Replace(only_b_);
  EXPECT_THAT(CountOf(SendFlows()), testing::ElementsAre(testing::Pair(kByB, kFlows)));
  Replace(both_);
  EXPECT_EQ(SendFlows(), before);
}

TEST_P(DiamondTest, ALinkThatGoesDownMovesItsFlows) {
  client_->ApplyRoutes("a", {.replaced = {}, .added = {RouteBy(both_)}, .removed = {}});
  Settle({kByB, kByC});
  const Ways before = SendFlows();
  client_->SetLinkUp({"a", "eth1"}, false);
  Settle({kByC});
  EXPECT_THAT(CountOf(SendFlows()), testing::ElementsAre(testing::Pair(kByC, kFlows)));
  client_->SetLinkUp({"a", "eth1"}, true);
  Settle({kByB, kByC});
  EXPECT_EQ(SendFlows(), before);
}

// Returns the number of packets whose hop count was used up, over the data planes of all nodes.
uint64_t ExpiredPackets(Client& client) {
  uint64_t count = 0;
  using Drops = std::map<std::string, std::map<std::string, uint64_t>>;
  for (const auto& [node, drops] : client.Describe().value("drops", Drops())) {
    for (const auto& [cause, packets] : drops) {
      if (cause.starts_with("ttl")) count += packets;
    }
  }
  return count;
}

TEST_P(DiamondTest, PacketsInALoopEndAndAreCounted) {
  client_->ApplyRoutes("a", {.replaced = {}, .added = {RouteBy(only_b_)}, .removed = {}});
  Settle({kByB});
  client_->ApplyRoutes("b", {.replaced = {RouteBy({{1, 1}})}, .added = {}, .removed = {}});
  const uint64_t before = ExpiredPackets(*client_);
  for (int flow = 0; flow < kFlows; ++flow) Send(flow, 1);
  const Instant end = MonotonicClock::Now() + Duration::Seconds(30);
  while (ExpiredPackets(*client_) < before + kFlows && MonotonicClock::Now() < end) usleep(10000);
  EXPECT_EQ(ExpiredPackets(*client_), before + kFlows);
  EXPECT_FALSE(Receive(100)) << "of a loop";
  client_->ApplyRoutes("b", {.replaced = {RouteBy({{4, 2}})}, .added = {}, .removed = {}});
  Settle({kByB});
  EXPECT_THAT(CountOf(SendFlows()), testing::ElementsAre(testing::Pair(kByB, kFlows)));
}

// Changes the routes of a node a thousand times a second, like a routing protocol that oscillates.
TEST_P(DiamondTest, RoutesThatChangeAllTheTimeLoseNothing) {
  constexpr int kChanges = 2000;
  client_->ApplyRoutes("a", {.replaced = {}, .added = {RouteBy(both_)}, .removed = {}});
  Settle({kByB, kByC});
  const std::array<const Hops*, 3> turns{&only_b_, &only_c_, &both_};
  const Instant begin = MonotonicClock::Now();
  for (int i = 0; i < kChanges; ++i) {
    Replace(*turns[i % turns.size()]);
    Send(i % kFlows, i);
    const Instant next = begin + Duration::Milliseconds(1) * (i + 1);
    if (const Duration left = next - MonotonicClock::Now(); left > Duration()) {
      usleep(static_cast<useconds_t>(left / Duration::Microseconds(1)));
    }
  }
  const double seconds = (MonotonicClock::Now() - begin).ToSeconds();
  RecordProperty("changes_per_second", std::to_string(kChanges / seconds));
  std::set<int> arrived;
  while (const auto arrival = Receive(300)) arrived.insert(arrival->number);
  EXPECT_EQ(arrived.size(), size_t{kChanges});
  EXPECT_LT(seconds, 20) << "for " << kChanges << " changes";
  Replace(both_);
  Settle({kByB, kByC});
}

INSTANTIATE_TEST_SUITE_P(Planes, DiamondTest,
                         testing::Combine(testing::Values(&fib::kKernelPlane, &fib::kEbpfPlane,
                                                          &fib::kJoinedPlane,
                                                          &fib::kUserspacePlane),
                                          testing::Values(Family::kIpv4, Family::kIpv6)),
                         [](const auto& info) {
                           return fmt::format(
                               "{}{}", std::get<0>(info.param)->name,
                               std::get<1>(info.param) == Family::kIpv4 ? "Ipv4" : "Ipv6");
                         });

}  // namespace
}  // namespace viaduct::broker
