// Tests the kernel's table of multicast routes between a source and two receivers. Needs root.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/socket_option.h"
#include "sys/network/link.h"
#include "sys/network/multicast_table.h"
#include "sys/network/netns.h"

namespace viaduct::sys {
namespace {

constexpr uint16_t kPort = 5000;

struct Words {
  wire::Family family;
  const char* group;
  const char* source;     // the source's address, on the first network
  const char* prefix[3];  // addresses of the router's interfaces
};
constexpr Words kIpv4{
    wire::Family::kIpv4, "239.1.1.1", "10.0.0.1/24", {"10.0.0.2/24", "10.0.1.2/24", "10.0.2.2/24"}};
constexpr Words kIpv6{
    wire::Family::kIpv6, "ff0e::1:1", "fd00::1/64", {"fd00::2/64", "fd00:1::2/64", "fd00:2::2/64"}};

sockaddr_storage AddressOf(const Words& words, const char* text) {
  sockaddr_storage storage{};
  if (words.family == wire::Family::kIpv4) {
    auto& address = reinterpret_cast<sockaddr_in&>(storage);
    address.sin_family = AF_INET;
    address.sin_port = htons(kPort);
    if (text != nullptr) inet_pton(AF_INET, text, &address.sin_addr);
  } else {
    auto& address = reinterpret_cast<sockaddr_in6&>(storage);
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(kPort);
    if (text != nullptr) inet_pton(AF_INET6, text, &address.sin6_addr);
  }
  return storage;
}

// A network of four nodes: node 0 (the source) and nodes 1 and 2 (the receivers) are each connected
// to one interface, eth0 to eth2, of the router.
class MulticastTableTest : public testing::TestWithParam<Words> {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
    for (int i = 0; i < 3; ++i) {
      const std::string name = "eth" + std::to_string(i);
      nodes_.push_back({CreateNamelessNamespace()});
      Netlink netlink(nodes_[i].get());
      netlink.CreateVethPair({nodes_[i].get(), "eth0", {}, 1500, 11},
                             {router_.get(), name, {}, 1500, 21 + i});
      netlink.SetUp(11, true);
      Netlink at_router(router_.get());
      at_router.AddAddress(21 + i, wire::IpPrefix::Parse(GetParam().prefix[i]));
      at_router.SetUp(21 + i, true);
      // Waits for the carrier, because the kernel discards packets that are sent before.
      ASSERT_TRUE(netlink.AwaitRunning("eth0", Duration::Seconds(10)));
      ASSERT_TRUE(at_router.AwaitRunning(name, Duration::Seconds(10)));
      if (i > 0) receivers_.push_back(Receiver(nodes_[i].get()));
    }
    Netlink(nodes_[0].get()).AddAddress(11, wire::IpPrefix::Parse(GetParam().source));
    sender_ = Socket(nodes_[0].get());
  }

  static int Level() {
    return GetParam().family == wire::Family::kIpv4 ? int{IPPROTO_IP} : int{IPPROTO_IPV6};
  }
  static UniqueFd Socket(int space) {
    const NamespaceScope scope(space);
    const int family = GetParam().family == wire::Family::kIpv4 ? AF_INET : AF_INET6;
    return UniqueFd(SystemCall("socket", socket(family, SOCK_DGRAM | SOCK_NONBLOCK, 0)));
  }
  static UniqueFd Receiver(int space) {
    UniqueFd fd = Socket(space);
    const sockaddr_storage any = AddressOf(GetParam(), nullptr);
    SystemCall("bind", bind(fd.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any));
    group_req join{};
    join.gr_interface = 11;
    join.gr_group = AddressOf(GetParam(), GetParam().group);
    SetSocketOption(fd.get(), Level(), MCAST_JOIN_GROUP, join, "MCAST_JOIN_GROUP");
    return fd;
  }

  void Send(char byte, int ttl = 8) {
    if (GetParam().family == wire::Family::kIpv4) {
      const ip_mreqn interface { {}, {}, 11 };
      SetSocketOption(sender_.get(), IPPROTO_IP, IP_MULTICAST_IF, interface, "IP_MULTICAST_IF");
      SetSocketOption(sender_.get(), IPPROTO_IP, IP_MULTICAST_TTL, ttl, "IP_MULTICAST_TTL");
    } else {
      const int interface = 11;
      SetSocketOption(sender_.get(), IPPROTO_IPV6, IPV6_MULTICAST_IF, interface, "IPV6_..._IF");
      SetSocketOption(sender_.get(), IPPROTO_IPV6, IPV6_MULTICAST_HOPS, ttl, "IPV6_..._HOPS");
    }
    const sockaddr_storage to = AddressOf(GetParam(), GetParam().group);
    SystemCall("sendto", sendto(sender_.get(), &byte, 1, 0, reinterpret_cast<const sockaddr*>(&to),
                                sizeof to));
  }
  // Next() returns the next byte that receiver 1 or 2 receives, and waits for it; Now() does not
  // wait.
  char Next(int node) { return Take(node, 10'000); }
  char Now(int node) { return Take(node, 0); }
  char Take(int node, int milliseconds) {
    pollfd wait{receivers_[node - 1].get(), POLLIN, 0};
    poll(&wait, 1, milliseconds);
    char byte = 0;
    return recv(wait.fd, &byte, 1, 0) == 1 ? byte : '-';
  }

  MulticastTable Open() {
    return {OpenMulticastRouting(router_.get(), GetParam().family, {21, 22, 23}),
            GetParam().family};
  }
  // Returns the flow for which the kernel reports a missing entry; waits for the report.
  static MulticastFlow Asked(MulticastTable& table) {
    pollfd wait{table.fd(), POLLIN, 0};
    while (poll(&wait, 1, 10'000) == 1) {
      if (const auto flow = table.Read()) return *flow;
    }
    throw Error("the kernel has not asked");
  }

  UniqueFd router_ = CreateNamelessNamespace();
  std::vector<UniqueFd> nodes_;
  std::vector<UniqueFd> receivers_;
  UniqueFd sender_;
};

TEST_P(MulticastTableTest, TheFirstPacketWaitsForTheAnswerAndTheOthersFollow) {
  MulticastTable table = Open();
  Send('a');
  const MulticastFlow flow = Asked(table);
  EXPECT_EQ(flow.source, wire::IpPrefix::Parse(GetParam().source).address);
  EXPECT_EQ(flow.group, wire::IpAddress::Parse(GetParam().group));
  EXPECT_EQ(flow.input, 0);
  table.Set(flow, {1, 2});
  Send('b');
  for (const int node : {1, 2}) {
    EXPECT_EQ(Next(node), 'a');
    EXPECT_EQ(Next(node), 'b');
    EXPECT_EQ(Now(node), '-');
  }
  EXPECT_EQ(table.Packets(flow), 2u);
}

TEST_P(MulticastTableTest, AnEntryIsReplacedAndRemoved) {
  MulticastTable table = Open();
  Send('a');
  const MulticastFlow flow = Asked(table);
  table.Set(flow, {1});
  EXPECT_EQ(Next(1), 'a');
  table.Set(flow, {2});
  Send('b');
  EXPECT_EQ(Next(2), 'b');
  EXPECT_EQ(Now(1), '-');
  table.Set(flow, {});  // an entry without outputs
  Send('c');
  table.Remove(flow);
  table.Remove(flow);
  Send('d');
  EXPECT_EQ(Asked(table), flow);
  EXPECT_EQ(Now(1), '-');
  EXPECT_EQ(Now(2), '-');
}

TEST_P(MulticastTableTest, OnlyPacketsThatMayGoOnAreForwarded) {
  MulticastTable table = Open();
  table.Set({wire::IpPrefix::Parse(GetParam().source).address,
             wire::IpAddress::Parse(GetParam().group), 0},
            {1});
  Send('a', 1);
  Send('b', 2);
  EXPECT_EQ(Next(1), 'b');
}

TEST_P(MulticastTableTest, PacketsFromAnotherInterfaceAreReportedAndNotForwarded) {
  MulticastTable table = Open();
  const MulticastFlow real{wire::IpPrefix::Parse(GetParam().source).address,
                           wire::IpAddress::Parse(GetParam().group), 0};
  MulticastFlow elsewhere = real;
  elsewhere.input = 2;
  table.Set(elsewhere, {1});
  Send('a');
  EXPECT_EQ(Asked(table), real);
  EXPECT_EQ(table.Packets(elsewhere), 0u);
  table.Set(elsewhere, {});  // no receiver: packets arrive on another interface
  Send('b');
  EXPECT_EQ(table.Packets(elsewhere), 0u);
  table.Set(real, {1});
  Send('c');
  EXPECT_EQ(Next(1), 'c');
}

TEST_P(MulticastTableTest, ThereIsOneTableWhichEndsWithItsSocket) {
  {
    const MulticastTable table = Open();
    EXPECT_THROW(Open(), SystemError);
  }
  const MulticastTable again = Open();
}

TEST_P(MulticastTableTest, MoreInterfacesThanTheKernelHasRoomForAreRefused) {
  EXPECT_THROW(OpenMulticastRouting(router_.get(), GetParam().family, std::vector<int>(33, 21)),
               UsageError);
}

INSTANTIATE_TEST_SUITE_P(Families, MulticastTableTest, testing::Values(kIpv4, kIpv6),
                         [](const auto& family) {
                           return family.param.family == wire::Family::kIpv4 ? "Ipv4" : "Ipv6";
                         });

}  // namespace
}  // namespace viaduct::sys
