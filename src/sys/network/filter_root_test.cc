// Tests that filters of packet sockets see frames as they are on the wire, even if the kernel has
// removed a VLAN tag. Needs root.
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/wire/test/packet_builder.h"
#include "sys/network/filter.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/packet_socket.h"

namespace viaduct::sys {
namespace {

using namespace wire::packet;

// Returns frames, each of which ends with a unique byte that identifies the frame.
std::vector<std::vector<std::byte>> Frames() {
  constexpr uint16_t kProtocol = 0x88b5, kService = 0x88a8;
  std::vector<std::vector<std::byte>> frames = {
      Build(Ethernet{.type = kProtocol} / Payload{"plain"}),
      Build(Ethernet{} / Vlan{.id = 7, .priority = 5} / Ipv4{} / Udp{1, 53} / Payload{"a"}),
      Build(Ethernet{} / Vlan{.id = 0, .priority = 3} / Ipv4{} / Udp{1, 53} / Payload{"priority"}),
      Build(Ethernet{} / Ipv4{} / Udp{1, 53} / Payload{"a"}),
      Build(Ethernet{} / Ipv6{} / Udp{1, 53} / Payload{"a"}),
      Build(Ethernet{} / Vlan{.id = 8} / Ipv6{} / Udp{1, 53} / Payload{"a"}),
      Build(Ethernet{} / Vlan{.id = 9, .tag_type = kService} / Vlan{.id = 7} / Ipv4{} / Udp{1, 53} /
            Payload{"a"}),
      Build(Ethernet{} / Arp{} / Payload{"a"}),
      Build(Ethernet{} / Ipv4{} / Tcp{} / Counting(300)),
  };
  // A priority-tagged frame with the protocol behind the tag.
  frames.push_back(Build(Ethernet{.type = wire::ether_type::kVlan} /
                         Payload{std::string("\x00\x07\x88\xb5tagged protocol", 19)}));
  for (size_t i = 0; i < frames.size(); ++i) frames[i].push_back(static_cast<std::byte>(i));
  return frames;
}

class FilterRootTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
    space_ = CreateNamelessNamespace();
    scope_.emplace(space_.get());
    Netlink netlink;
    netlink.CreateVethPair({-1, "a", std::nullopt}, {-1, "b", std::nullopt});
    for (const char* name : {"a", "b"}) netlink.SetUp(netlink.IfIndex(name), true);
    ASSERT_TRUE(netlink.AwaitRunning("a", Duration::Seconds(10)));
    sender_ = OpenPacketSocket("a", false);
    BindPacketSocket(sender_.fd.get(), sender_.ifindex, 0);
  }

  static PacketSocket Receiver(const PacketFilter& filter) {
    PacketSocket socket = OpenPacketSocket("b", true);
    filter.Attach(socket.fd.get());
    BindPacketSocket(socket.fd.get(), socket.ifindex, ETH_P_ALL);
    return socket;
  }

  void Send(const std::vector<std::byte>& frame) const {
    sockaddr_ll to{};
    to.sll_family = AF_PACKET;
    to.sll_ifindex = sender_.ifindex;
    to.sll_halen = ETH_ALEN;
    SystemCall("sendto", sendto(sender_.fd.get(), frame.data(), frame.size(), 0,
                                reinterpret_cast<const sockaddr*>(&to), sizeof to));
  }

  // Returns the last byte of the next frame that was sent by this test; nothing if no frame
  // arrives.
  static std::optional<size_t> Next(const PacketSocket& socket, bool wait) {
    pollfd waits{socket.fd.get(), POLLIN, 0};
    constexpr int kTimeoutMs = 10'000;
    const auto own = wire::MacAddress::Parse(Ethernet{}.source);
    while (poll(&waits, 1, wait ? kTimeoutMs : 0) > 0) {
      std::array<std::byte, 2048> bytes;
      const ssize_t size = recv(socket.fd.get(), bytes.data(), bytes.size(), 0);
      const auto header = wire::EthernetHeader::Parse(bytes);
      if (size > 0 && header->source == own) {
        return std::to_integer<size_t>(bytes.at(static_cast<size_t>(size - 1)));
      }
    }
    return std::nullopt;
  }

  UniqueFd space_;
  std::optional<NamespaceScope> scope_;
  PacketSocket sender_;
};

TEST_P(FilterRootTest, ASocketGetsWhatTheFilterMatchesOnTheWire) {
  const PacketFilter filter = PacketFilter::Compile(GetParam());
  const PacketSocket all = Receiver(PacketFilter::Compile("")), some = Receiver(filter);
  const auto frames = Frames();
  std::set<size_t> expected, seen;
  for (size_t i = 0; i < frames.size(); ++i) {
    if (filter.Matches(frames[i])) expected.insert(i);
    Send(frames[i]);
  }
  // Sends a last frame twice: the kernel passes each frame to both sockets before the next frame,
  // so that `some` has received all its frames when `all` has received both copies of the last
  // frame.
  constexpr size_t kEnd = 200;
  std::vector<std::byte> end = frames[0];
  end.back() = std::byte{kEnd};
  Send(end);
  Send(end);
  for (int ends = 0; ends < 2;) {
    const auto number = Next(all, true);
    ASSERT_TRUE(number) << "frames are lost";
    ends += *number == kEnd;
  }
  while (const auto number = Next(some, false)) {
    if (*number < frames.size()) seen.insert(*number);
  }
  EXPECT_EQ(seen, expected);
}

INSTANTIATE_TEST_SUITE_P(Filters, FilterRootTest,
                         testing::Values("ether proto 0x88b5", "not ether proto 0x88b5", "ip",
                                         "vlan", "vlan 7", "vlan and ip", "vlan 9 and vlan 7",
                                         "ip6 and udp dst port 53", "vlan and udp dst port 53",
                                         "not vlan and udp dst port 53", "greater 70", "less 70",
                                         "ether[14] & 0xe0 = 0xa0", "ether[15] = 7",
                                         "ether[12] = 0x81", "ether[13] = 0xa8",
                                         "ether[16:2] = 0x0800", "udp or arp or vlan",
                                         "ether dst 02:00:00:00:00:02"));

}  // namespace
}  // namespace viaduct::sys
