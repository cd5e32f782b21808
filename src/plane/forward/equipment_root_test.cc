// Tests of a forwarder's sockets together with a real kernel. Needs root.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <functional>

#include "base/error.h"
#include "base/socket_option.h"
#include "base/wire/ip.h"
#include "plane/forward/equipment.h"
#include "plane/forward/shared_memory.h"
#include "sys/network/netns.h"

namespace viaduct::forward {
namespace {

constexpr uint8_t kUnassigned = 255;  // unassigned protocol number, equal to IPPROTO_RAW

UniqueFd OpenRaw(int family, int protocol) {
  return UniqueFd(
      SystemCall("open a raw socket", socket(family, SOCK_RAW | SOCK_CLOEXEC, protocol)));
}

void SendIpv4(int raw, const char* destination) {
  std::array<std::byte, wire::Ipv4Header::kSize> packet{};
  wire::Ipv4Header header;
  header.protocol = kUnassigned;
  header.source = wire::IpAddress::Parse("127.0.0.1");
  header.destination = wire::IpAddress::Parse(destination);
  header.Write(packet);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  std::memcpy(&to.sin_addr, header.destination.bytes.data(), sizeof to.sin_addr);
  SystemCall("send", sendto(raw, packet.data(), packet.size(), 0, reinterpret_cast<sockaddr*>(&to),
                            sizeof to));
}

void SendIpv4ToItself() {
  const UniqueFd raw = OpenRaw(AF_INET, IPPROTO_UDP);
  SetSocketOption(raw.get(), IPPROTO_IP, IP_HDRINCL, 1, "IP_HDRINCL");
  SendIpv4(raw.get(), "127.0.0.1");
}

void SendIpv6ToItself() {
  const UniqueFd raw = OpenRaw(AF_INET6, IPPROTO_UDP);
  SetSocketOption(raw.get(), IPPROTO_IPV6, IPV6_HDRINCL, 1, "IPV6_HDRINCL");
  std::array<std::byte, wire::Ipv6Header::kSize> packet{};
  wire::Ipv6Header header;
  header.next_header = kUnassigned;
  header.source = header.destination = wire::IpAddress::Parse("::1");
  header.Write(packet);
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_addr = in6addr_loopback;
  SystemCall("send", sendto(raw.get(), packet.data(), packet.size(), 0,
                            reinterpret_cast<sockaddr*>(&to), sizeof to));
}

bool IsReadable(const UniqueFd& socket) {
  pollfd wait{socket.get(), POLLIN, 0};
  return poll(&wait, 1, 0) == 1;
}

void WithEquipment(const std::function<void(const Equipment&)>& test) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
  sys::InScratchNamespace([&] {
    sys::Netlink netlink;
    netlink.SetUp(netlink.IfIndex("lo"), true);
    const SharedMemory memory = MakeSharedMemory("test", 64, Writers::kAll);
    const SharedWith shared{DescribeKnown("router"), {}, memory.fd.get(), memory.fd.get()};
    const UniqueFd space = sys::OpenCurrentNamespace();
    test(Equip("r", space.get(), shared));
  });
}

// A forwarder's raw sockets receive nothing, so the kernel refuses the same packets with these
// sockets as without them.
TEST(EquipmentTest, TheRawSocketsReceiveNothing) {
  WithEquipment([](const Equipment& equipment) {
    const UniqueFd icmp = OpenRaw(AF_INET, IPPROTO_ICMP);
    const UniqueFd icmpv6 = OpenRaw(AF_INET6, IPPROTO_ICMPV6);
    SendIpv4ToItself();
    SendIpv6ToItself();
    EXPECT_FALSE(IsReadable(equipment.raw_ipv4));
    EXPECT_FALSE(IsReadable(equipment.raw_ipv6));
    EXPECT_TRUE(IsReadable(icmp));
    EXPECT_TRUE(IsReadable(icmpv6));
  });
}

TEST(EquipmentTest, ErrorsMayGoToBroadcastAddresses) {
  WithEquipment([](const Equipment& equipment) {
    EXPECT_NO_THROW(SendIpv4(equipment.raw_ipv4.get(), "127.255.255.255"));
  });
}

}  // namespace
}  // namespace viaduct::forward
