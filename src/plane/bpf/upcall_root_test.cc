// Tests of packets that are sent up through a TUN device, and of neighbours for which the kernel
// holds packets.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/socket_option.h"
#include "base/wire/ethernet.h"
#include "base/wire/test/packet_builder.h"
#include "plane/bpf/forward_program.h"
#include "plane/bpf/upcall_program.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/packet_marks.h"
#include "sys/network/tun.h"

namespace viaduct::bpf {
namespace {

// The addresses of a test for one version of IP, and offsets in its header.
struct Addresses {
  int family;
  // Addresses with the length of their prefix: "10.0.1.1/24".
  const char *left, *router_left, *router_right, *right;
  const char *nowhere, *also_nowhere;
  int header;       // length of the IP header, bytes
  int hop_limit;    // offset of the TTL or hop limit in the IP header
  int destination;  // offset of the destination address in the IP header
};
constexpr Addresses kIpv4{.family = AF_INET,
                          .left = "10.0.1.1/24",
                          .router_left = "10.0.1.2/24",
                          .router_right = "10.0.2.2/24",
                          .right = "10.0.2.1/24",
                          .nowhere = "10.9.9.9",
                          .also_nowhere = "10.9.9.8",
                          .header = 20,
                          .hop_limit = 8,
                          .destination = 16};
constexpr Addresses kIpv6{.family = AF_INET6,
                          .left = "2001:db8:1::1/64",
                          .router_left = "2001:db8:1::2/64",
                          .router_right = "2001:db8:2::2/64",
                          .right = "2001:db8:2::1/64",
                          .nowhere = "2001:db8:9::9",
                          .also_nowhere = "2001:db8:9::8",
                          .header = 40,
                          .hop_limit = 7,
                          .destination = 24};

std::ostream& operator<<(std::ostream& out, const Addresses& addresses) {
  return out << (addresses.family == AF_INET ? "IPv4" : "IPv6");
}

std::string WithoutLength(const char* prefix) {
  return wire::IpPrefix::Parse(prefix).address.ToString();
}

struct GoneUp {
  int ifindex;
  bool is_copy;
  std::string destination;
  int hop_limit;
  friend bool operator==(const GoneUp&, const GoneUp&) = default;
};

std::ostream& operator<<(std::ostream& out, const GoneUp& packet) {
  return out << (packet.is_copy ? "copy from " : "missed from ") << packet.ifindex << " to "
             << packet.destination << " hops " << packet.hop_limit;
}

// A namespace of a test: the router's or a host's.
struct Space {
  UniqueFd fd = sys::CreateNamelessNamespace();
  sys::Netlink netlink{fd.get()};

  void Run(const std::string& command) const {
    const sys::NamespaceScope scope(fd.get());
    if (std::system(command.c_str()) != 0) throw Error("command failed: " + command);
  }
  UniqueFd UdpSocket(int family) const {
    const sys::NamespaceScope scope(fd.get());
    return UniqueFd(SystemCall("socket", socket(family, SOCK_DGRAM | SOCK_NONBLOCK, 0)));
  }
  void SetUp(int ifindex, const char* address4, const char* address6) {
    netlink.SetUp(ifindex, true);
    netlink.AddAddress(ifindex, wire::IpPrefix::Parse(address4));
    netlink.AddAddress(ifindex, wire::IpPrefix::Parse(address6));
  }
};

struct SocketAddress {
  SocketAddress(int family, const std::string& address) {
    bytes.ss_family = static_cast<sa_family_t>(family);
    if (family == AF_INET) {
      auto& ipv4 = reinterpret_cast<sockaddr_in&>(bytes);
      ipv4.sin_port = htons(9);
      inet_pton(family, address.c_str(), &ipv4.sin_addr);
    } else {
      auto& ipv6 = reinterpret_cast<sockaddr_in6&>(bytes);
      ipv6.sin6_port = htons(9);
      inet_pton(family, address.c_str(), &ipv6.sin6_addr);
    }
  }
  const sockaddr* Get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
  sockaddr_storage bytes{};
};

// Returns a socket that receives the datagrams to the namespace, so that its kernel does not answer
// them with ICMP errors.
UniqueFd Receiver(const Space& space, int family) {
  UniqueFd receiver = space.UdpSocket(family);
  if (family == AF_INET6) SetSocketOption(receiver.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1, "v6 only");
  const SocketAddress any(family, family == AF_INET ? "0.0.0.0" : "::");
  SystemCall("bind", bind(receiver.get(), any.Get(), sizeof any.bytes));
  return receiver;
}

void Send(const UniqueFd& socket, int family, const std::string& to, std::string_view bytes = "x") {
  const SocketAddress address(family, to);
  SystemCall("sendto", sendto(socket.get(), bytes.data(), bytes.size(), 0, address.Get(),
                              sizeof address.bytes));
}

// Sets up a router with two interfaces, a host behind the first interface, and another host behind
// the second.
class UpcallTest : public testing::TestWithParam<Addresses> {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
    if (const std::string why = Unavailable(); !why.empty()) GTEST_SKIP() << why;
    for (const Space* space : {&left_, &router_, &right_}) {
      space->Run("sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0");
    }
    left_.netlink.CreateVethPair({left_.fd.get(), "eth0", {}, 1500, 11},
                                 {router_.fd.get(), "eth0", {}, 1500, 21});
    right_.netlink.CreateVethPair({right_.fd.get(), "eth0", {}, 1500, 12},
                                  {router_.fd.get(), "eth1", {}, 1500, 22});
    left_.SetUp(11, kIpv4.left, kIpv6.left);
    right_.SetUp(12, kIpv4.right, kIpv6.right);
    router_.SetUp(21, kIpv4.router_left, kIpv6.router_left);
    router_.SetUp(22, kIpv4.router_right, kIpv6.router_right);
    left_.netlink.AddRoute(Default(), wire::IpAddress::Parse(WithoutLength(At().router_left)), 11);
    router_.Run("sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1");
    tun_ = sys::OpenTun(router_.fd.get(), "upcall0");
    tun_index_ = router_.netlink.IfIndex("upcall0");
    router_.netlink.SetIpv6LinkLocal(tun_index_, false);
  }

  const Addresses& At() const { return GetParam(); }

  wire::IpPrefix Default() const {
    return {{At().family == AF_INET ? wire::Family::kIpv4 : wire::Family::kIpv6, {}}, 0};
  }

  // Attaches the programs, and sets the TUN device up last, because the first packets that the
  // kernel sends through it (MLD) must have an origin, too.
  void Attach(const std::vector<int>& ifindexes = {}, Duration interval = Duration::Seconds(2)) {
    const wire::Family family = At().family == AF_INET ? wire::Family::kIpv4 : wire::Family::kIpv6;
    links_ = AttachUpcalls(router_.fd.get(), {tun_index_, ifindexes, {family}, interval});
    router_.netlink.SetUp(tun_index_, true);
    router_.netlink.AwaitRunning("upcall0", Duration::Seconds(2));
    router_.netlink.AddRoute(Default(), std::nullopt, tun_index_);
  }

  // Returns the next packet that was sent up, beginning with the upcall header. Throws Error if
  // none arrives.
  std::vector<std::byte> NextBytes() {
    while (true) {
      pollfd wait{tun_.get(), POLLIN, 0};
      if (poll(&wait, 1, 10'000) != 1) throw Error("nothing has gone up");
      std::vector<std::byte> bytes(65536);
      const ssize_t length = read(tun_.get(), bytes.data(), bytes.size());
      bytes.resize(length < 0 ? 0 : static_cast<size_t>(length));
      const auto upcall = ReadUpcall(bytes);
      if (!upcall || upcall->packet.size() < static_cast<size_t>(At().header)) continue;
      const int version = static_cast<int>(upcall->packet[0]) >> 4;
      if (version == (At().family == AF_INET ? 4 : 6)) return bytes;
    }
  }
  GoneUp Next() {
    std::vector<std::byte> bytes = NextBytes();
    const Upcall upcall = *ReadUpcall(bytes);
    char text[INET6_ADDRSTRLEN];
    inet_ntop(At().family, &upcall.packet[static_cast<size_t>(At().destination)], text,
              sizeof text);
    const auto hop_limit = static_cast<int>(upcall.packet[static_cast<size_t>(At().hop_limit)]);
    return {upcall.ifindex, upcall.is_copy, text, hop_limit};
  }
  // Checks that segments with this total payload, in bytes, were sent up from the first interface,
  // with correct checksums; returns the number of segments.
  int CountSegments(size_t payload) {
    int count = 0;
    for (size_t seen = 0; seen < payload; ++count) {
      std::vector<std::byte> bytes = NextBytes();
      const Upcall upcall = *ReadUpcall(bytes);
      EXPECT_EQ(upcall.ifindex, 21);
      EXPECT_FALSE(upcall.is_copy);
      const std::string text = wire::packet::DescribePacket(upcall.packet);
      EXPECT_EQ(text.find("bad"), std::string::npos) << text;
      const auto frame = wire::packet::PayloadOf(AsFrame(upcall.packet));
      seen += frame.size();
      if (frame.empty()) return count;
    }
    return count;
  }
  std::vector<std::byte> AsFrame(std::span<const std::byte> packet) const {
    std::vector<std::byte> frame(wire::EthernetHeader::kSize + packet.size());
    const bool ipv4 = At().family == AF_INET;
    wire::EthernetHeader{{}, {}, ipv4 ? wire::ether_type::kIpv4 : wire::ether_type::kIpv6}.Write(
        frame);
    std::ranges::copy(packet, frame.begin() + wire::EthernetHeader::kSize);
    return frame;
  }

  Space left_, router_, right_;
  UniqueFd tun_;
  int tun_index_ = 0;
  std::vector<UniqueFd> links_;
};

TEST_P(UpcallTest, MissesTellWhereTheyCameFrom) {
  Attach();
  Send(left_.UdpSocket(At().family), At().family, At().nowhere);
  EXPECT_EQ(Next(), (GoneUp{21, false, At().nowhere, 63}));
  Send(router_.UdpSocket(At().family), At().family, At().also_nowhere);
  EXPECT_EQ(Next(), (GoneUp{0, false, At().also_nowhere, 64}));
}

// The test sends packets up as a forwarder in userspace does (plane/forward/upcall_sender.h).
TEST_P(UpcallTest, WhatAForwarderPassesUpTellsWhereItCameFrom) {
  Attach();
  const auto up = [&](int came_in) {
    const sys::NamespaceScope scope(router_.fd.get());
    const UniqueFd socket(SystemCall("socket", ::socket(AF_PACKET, SOCK_RAW, 0)));
    SetSocketOption(socket.get(), SOL_SOCKET, SO_MARK, came_in, "SO_MARK");
    sockaddr_ll to{};
    to.sll_family = AF_PACKET;
    to.sll_protocol = htons(sys::kPassedUp);
    to.sll_ifindex = tun_index_;
    namespace packet = wire::packet;
    const std::vector<std::byte> frame =
        At().family == AF_INET
            ? packet::Build(packet::Ethernet{} / packet::Ipv4{.destination = At().nowhere} /
                            packet::Udp{})
            : packet::Build(packet::Ethernet{} / packet::Ipv6{.destination = At().nowhere} /
                            packet::Udp{});
    SystemCall("sendto", sendto(socket.get(), &frame[14], frame.size() - 14, 0,
                                reinterpret_cast<const sockaddr*>(&to), sizeof to));
  };
  up(22);
  EXPECT_EQ(Next(), (GoneUp{22, false, At().nowhere, 64}));
  up(21);
  EXPECT_EQ(Next(), (GoneUp{21, false, At().nowhere, 64}));
}

// A packet that the kernel sends for a forwarder in userspace is not copied, because it uses no
// route of the node itself.
TEST_P(UpcallTest, WhatTheKernelSendsForAForwarderIsNotCopied) {
  const std::string right = WithoutLength(At().right);
  const UniqueFd at_right = Receiver(right_, At().family);
  Attach({21, 22}, Duration::Seconds(1000));
  const UniqueFd socket = router_.UdpSocket(At().family);
  SetSocketOption(socket.get(), SOL_SOCKET, SO_MARK, sys::kForwardedMark, "SO_MARK");
  Send(socket, At().family, right);
  Send(socket, At().family, At().nowhere);
  EXPECT_EQ(Next(), (GoneUp{0, false, At().nowhere, 64})) << "the first one is not copied";
  Send(router_.UdpSocket(At().family), At().family, right);
  EXPECT_EQ(Next(), (GoneUp{0, true, right, 64})) << "a program's is";
}

// The kernel segments the large datagram after the program has written the origin.
TEST_P(UpcallTest, EachSegmentOfALargeDatagramTellsWhereItCameFrom) {
  Attach();
  constexpr int kSize = 1000, kCount = 20;
  const UniqueFd socket = left_.UdpSocket(At().family);
  SystemCall("UDP_SEGMENT", setsockopt(socket.get(), SOL_UDP, 103, &kSize, sizeof kSize));
  Send(socket, At().family, At().nowhere, std::string(kSize * kCount, 'x'));
  EXPECT_EQ(CountSegments(kSize * kCount), kCount);
}

TEST_P(UpcallTest, EachSegmentOfALargeTcpPacketTellsWhereItCameFrom) {
  Attach();
  const int family = At().family;
  const std::string right = WithoutLength(At().right);
  UniqueFd listener, sender;
  const SocketAddress any(family, family == AF_INET ? "0.0.0.0" : "::"), to(family, right);
  {
    const sys::NamespaceScope scope(right_.fd.get());
    listener = UniqueFd(SystemCall("socket", socket(family, SOCK_STREAM, 0)));
    SystemCall("bind", bind(listener.get(), any.Get(), sizeof any.bytes));
    SystemCall("listen", listen(listener.get(), 1));
    right_.netlink.AddRoute(Default(), wire::IpAddress::Parse(WithoutLength(At().router_right)),
                            12);
  }
  {
    const sys::NamespaceScope scope(left_.fd.get());
    sender = UniqueFd(SystemCall("socket", socket(family, SOCK_STREAM, 0)));
    SystemCall("connect", connect(sender.get(), to.Get(), sizeof to.bytes));
  }
  // The address is removed, and so is the route to its network.
  router_.netlink.RemoveAddress(22, wire::IpPrefix::Parse(At().router_right));
  // TCP sends all these bytes at once, because they fit in its initial window.
  const std::string bytes(10 * 1400, 'x');
  SystemCall("send", send(sender.get(), bytes.data(), bytes.size(), 0));
  EXPECT_GE(CountSegments(bytes.size()), 10);
}

TEST_P(UpcallTest, OneOfEachFlowAndIntervalIsCopied) {
  const std::string right = WithoutLength(At().right), own = WithoutLength(At().router_left);
  const UniqueFd at_right = Receiver(right_, At().family), at_own = Receiver(router_, At().family);
  Attach({21, 22}, Duration::Seconds(1000));  // an interval longer than the test
  const UniqueFd forwarded = left_.UdpSocket(At().family);
  const UniqueFd local = router_.UdpSocket(At().family);
  Send(forwarded, At().family, right);
  Send(forwarded, At().family, right);
  Send(local, At().family, right);
  Send(local, At().family, right);
  Send(forwarded, At().family, own);  // a packet to the router itself
  EXPECT_EQ(Next(), (GoneUp{21, true, right, 64}));
  EXPECT_EQ(Next(), (GoneUp{0, true, right, 64}));
  EXPECT_EQ(Next(), (GoneUp{21, true, own, 64}));
}

TEST_P(UpcallTest, CopiesComeAgainAfterTheInterval) {
  const std::string right = WithoutLength(At().right);
  const UniqueFd receiver = Receiver(right_, At().family), socket = left_.UdpSocket(At().family);
  Attach({21, 22}, Duration::Milliseconds(1));
  for (int i = 0; i < 3; ++i) {
    Send(socket, At().family, right);
    EXPECT_EQ(Next(), (GoneUp{21, true, right, 64}));
    usleep(30'000);  // longer than a timer tick and the interval, on a machine of any speed
  }
}

TEST_P(UpcallTest, OtherFamiliesAndGroupsAreNotCopied) {
  const Addresses& other = At().family == AF_INET ? kIpv6 : kIpv4;
  const UniqueFd at_right = Receiver(right_, At().family),
                 at_other = Receiver(right_, other.family);
  Attach({21, 22}, Duration::Seconds(1000));
  router_.netlink.AddRoute(
      {{other.family == AF_INET ? wire::Family::kIpv4 : wire::Family::kIpv6, {}}, 0}, std::nullopt,
      tun_index_);
  Send(router_.UdpSocket(other.family), other.family, WithoutLength(other.right));
  router_.Run(At().family == AF_INET ? "ip route add 224.0.0.0/4 dev eth1;"
                                       "ping -q -c 1 -W 1 -I eth1 224.0.0.1 >/dev/null || true"
                                     : "ping -q -c 1 -W 1 -I eth1 ff02::1 >/dev/null || true");
  Send(router_.UdpSocket(At().family), At().family, WithoutLength(At().right));
  std::vector<std::byte> bytes(2048);
  std::vector<std::string> packets;
  for (pollfd wait{tun_.get(), POLLIN, 0}; poll(&wait, 1, 200) == 1;) {
    bytes.resize(static_cast<size_t>(SystemCall("read", read(tun_.get(), bytes.data(), 2048))));
    const Upcall upcall = *ReadUpcall(bytes);
    packets.push_back((upcall.is_copy ? "copy " : "missed ") +
                      wire::packet::DescribePacket(upcall.packet));
    bytes.resize(2048);
  }
  EXPECT_THAT(packets, testing::ElementsAre(testing::HasSubstr("> " + WithoutLength(At().right))));
}

TEST_P(UpcallTest, PacketsToAHeldNeighbourWaitAndKeepTheirOrder) {
  const UniqueFd receiver = Receiver(right_, At().family);
  const wire::IpAddress neighbour = wire::IpAddress::Parse(WithoutLength(At().right));
  router_.netlink.HoldNeighbour(22, neighbour);
  const UniqueFd sender = router_.UdpSocket(At().family);
  for (char byte = 'a'; byte < 'a' + 20; ++byte) {
    Send(sender, At().family, neighbour.ToString(), std::string(1, byte));
  }
  char received = 0;
  EXPECT_LT(recv(receiver.get(), &received, 1, 0), 0) << "it has not waited";
  router_.netlink.ReleaseNeighbour(22, neighbour, right_.netlink.GetLink("eth0").mac);
  std::string order;
  for (int i = 0; i < 20; ++i) {
    pollfd wait{receiver.get(), POLLIN, 0};
    ASSERT_EQ(poll(&wait, 1, 10'000), 1);
    ASSERT_EQ(recv(receiver.get(), &received, 1, 0), 1);
    order += received;
  }
  EXPECT_EQ(order, "abcdefghijklmnopqrst");
}

INSTANTIATE_TEST_SUITE_P(Families, UpcallTest, testing::Values(kIpv4, kIpv6), [](const auto& info) {
  return info.param.family == AF_INET ? "Ipv4" : "Ipv6";
});

TEST(Upcall, ReadsWhatIsWritten) {
  std::array<std::byte, 3> packet{std::byte{1}, std::byte{2}, std::byte{3}};
  std::vector<std::byte> bytes = WriteUpcall({.ifindex = 70000, .is_copy = true, .packet = packet});
  const auto upcall = ReadUpcall(bytes);
  ASSERT_TRUE(upcall);
  EXPECT_EQ(upcall->ifindex, 70000);
  EXPECT_TRUE(upcall->is_copy);
  EXPECT_TRUE(std::ranges::equal(upcall->packet, packet));
  EXPECT_FALSE(ReadUpcall(std::span(bytes).first(kUpcallHeader - 1)));
}

}  // namespace
}  // namespace viaduct::bpf
