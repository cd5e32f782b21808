// Packets that go up through a TUN device, and neighbours to whom packets wait.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/tun.h"
#include "sys/network/upcall.h"

namespace viaduct::sys {
namespace {

struct GoneUp {
  UpcallOrigin origin;
  std::string destination;
  int ttl;
  friend bool operator==(const GoneUp&, const GoneUp&) = default;
};

// A router with two interfaces, a host behind the first, and another behind the second.
class UpcallTest : public testing::Test {
 protected:
  UpcallTest() {
    left_.netlink.CreateVethPair({left_.fd.get(), "eth0", {}, 1500, 11},
                                 {router_.fd.get(), "eth0", {}, 1500, 21});
    right_.netlink.CreateVethPair({right_.fd.get(), "eth0", {}, 1500, 12},
                                  {router_.fd.get(), "eth1", {}, 1500, 22});
    SetUp(left_, 11, "10.0.1.1/24");
    SetUp(right_, 12, "10.0.2.1/24");
    SetUp(router_, 21, "10.0.1.2/24");
    SetUp(router_, 22, "10.0.2.2/24");
    const wire::IpAddress router = wire::IpAddress::Parse("10.0.1.2");
    left_.netlink.AddRoute({}, router, 11);
    router_.Run("sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.disable_ipv6=1");
    tun_ = OpenTun(router_.fd.get(), "upcall0");
    tun_index_ = router_.netlink.IfIndex("upcall0");
    router_.netlink.SetUp(tun_index_, true);
    router_.netlink.AwaitRunning("upcall0", Duration::Seconds(2));
    router_.netlink.AddRoute({}, std::nullopt, tun_index_);
    MarkUpcalls(router_.fd.get(), tun_index_);
  }

  struct Space {
    UniqueFd fd = CreateNamelessNamespace();
    Netlink netlink{fd.get()};

    void Run(const std::string& command) const {
      const NamespaceScope scope(fd.get());
      if (std::system(command.c_str()) != 0) throw Error("command failed: " + command);
    }
    UniqueFd UdpSocket() const {
      const NamespaceScope scope(fd.get());
      return UniqueFd(SystemCall("socket", socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0)));
    }
  };

  // Takes what is sent to the namespace, so that it answers nothing.
  static UniqueFd Receiver(const Space& space) {
    UniqueFd receiver = space.UdpSocket();
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(9);
    SystemCall("bind",
               bind(receiver.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
    return receiver;
  }

  static void SetUp(Space& space, int ifindex, const std::string& address) {
    space.netlink.AddAddress(ifindex, wire::IpPrefix::Parse(address));
    space.netlink.SetUp(ifindex, true);
  }

  static void Send(const UniqueFd& socket, const std::string& to, char byte = 'x') {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(9);
    inet_pton(AF_INET, to.c_str(), &address.sin_addr);
    SystemCall("sendto", sendto(socket.get(), &byte, 1, 0,
                                reinterpret_cast<const sockaddr*>(&address), sizeof address));
  }

  // The next IPv4 packet that went up. Fails if none comes.
  GoneUp Next() {
    while (true) {
      pollfd wait{tun_.get(), POLLIN, 0};
      if (poll(&wait, 1, 10'000) != 1) throw Error("nothing has gone up");
      std::array<std::byte, 2048> packet;
      const ssize_t length = read(tun_.get(), packet.data(), packet.size());
      if (length < 20 || (static_cast<int>(packet[0]) >> 4) != 4) continue;
      char text[INET_ADDRSTRLEN];
      inet_ntop(AF_INET, &packet[16], text, sizeof text);
      return {TakeUpcallOrigin(packet), text, static_cast<int>(packet[8])};
    }
  }

  Space left_, router_, right_;
  UniqueFd tun_;
  int tun_index_ = 0;
};

TEST_F(UpcallTest, MissesTellWhereTheyCameFrom) {
  Send(left_.UdpSocket(), "10.9.9.9");
  EXPECT_EQ(Next(), (GoneUp{{21, false}, "10.9.9.9", 63}));
  Send(router_.UdpSocket(), "10.9.9.8");
  EXPECT_EQ(Next(), (GoneUp{{0, false}, "10.9.9.8", 64}));
}

TEST_F(UpcallTest, OneOfEachFlowAndIntervalIsCopied) {
  const Duration never = Duration::Seconds(2);  // that is: not again in this test
  const UniqueFd right = Receiver(right_), router = Receiver(router_);
  CopyFlows(router_.fd.get(), {21, 22}, tun_index_, never);
  const UniqueFd forwarded = left_.UdpSocket();
  const UniqueFd local = router_.UdpSocket();
  Send(forwarded, "10.0.2.1");
  Send(forwarded, "10.0.2.1");
  Send(local, "10.0.2.1");
  Send(local, "10.0.2.1");
  Send(forwarded, "10.0.1.2");  // to the router itself
  EXPECT_EQ(Next(), (GoneUp{{21, true}, "10.0.2.1", 64}));
  EXPECT_EQ(Next(), (GoneUp{{0, true}, "10.0.2.1", 64}));
  EXPECT_EQ(Next(), (GoneUp{{21, true}, "10.0.1.2", 64}));
}

TEST_F(UpcallTest, CopiesComeAgainAfterTheInterval) {
  CopyFlows(router_.fd.get(), {21, 22}, tun_index_, Duration::Milliseconds(1));
  const UniqueFd receiver = Receiver(right_), socket = left_.UdpSocket();
  for (int i = 0; i < 3; ++i) {
    Send(socket, "10.0.2.1");
    EXPECT_EQ(Next(), (GoneUp{{21, true}, "10.0.2.1", 64}));
    usleep(2000);  // more than the interval, however slow the machine
  }
}

TEST_F(UpcallTest, PacketsToAHeldNeighbourWaitAndKeepTheirOrder) {
  const UniqueFd receiver = Receiver(right_);
  const wire::IpAddress neighbour = wire::IpAddress::Parse("10.0.2.1");
  router_.netlink.HoldNeighbour(22, neighbour);
  const UniqueFd sender = router_.UdpSocket();
  for (char byte = 'a'; byte < 'a' + 20; ++byte) Send(sender, "10.0.2.1", byte);
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

}  // namespace
}  // namespace viaduct::sys
