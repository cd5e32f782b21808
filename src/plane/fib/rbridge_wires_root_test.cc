// Tests of the eBPF data plane of RBridges, which passes frames directly to the other end of a
// wire. Needs root.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/wire/ethernet.h"
#include "plane/fib/ebpf_rbridge.h"
#include "plane/fib/test_rbridge.h"
#include "port/packet/ring_port.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/offload.h"
#include "sys/network/packet_socket.h"
#include "sys/network/sysctl.h"

namespace viaduct::fib {
namespace {

using Drops = std::map<std::string, uint64_t>;  // numbers of lost frames, keyed by cause

// A chain of two RBridges between two terminals; the RBridges' programs pass frames directly to a
// wire's other end:
//   "left" - [in, out] - [in, out] - "right"
// The terminals' interfaces are in the calling thread's namespace.
class Chain {
 public:
  Chain() {
    sys::WriteSysctls(fd_.get(), {{"net.ipv6.conf.default.disable_ipv6", "1"}});
    for (UniqueFd& space : spaces_) {
      space = sys::CreateNamelessNamespace();
      sys::WriteSysctls(space.get(), {{"net.ipv6.conf.default.disable_ipv6", "1"}});
    }
    Wire({fd_.get(), "left", TerminalMac(0)}, {spaces_[0].get(), "in", PortMac(0)});
    Wire({spaces_[0].get(), "out", PortMac(1)}, {spaces_[1].get(), "in", PortMac(2)});
    Wire({spaces_[1].get(), "out", PortMac(3)}, {fd_.get(), "right", TerminalMac(1)});
    for (size_t i = 0; i < 2; ++i) {
      NodePlace place;
      place.namespace_fd = spaces_.at(i).get();
      place.ports = place.interfaces = {"in", "out"};
      place.wires = {{"in", i == 0 ? TerminalMac(0) : PortMac(1)},
                     {"out", i == 0 ? PortMac(2) : TerminalMac(1)}};
      sinks_.at(i).emplace(place);
      controls_.at(i).emplace(*sinks_.at(i));
      SetTables(i);
    }
    left_ = Open(fd_.get(), "left");
    between_ = Open(spaces_[1].get(), "in");
    right_ = Open(fd_.get(), "right");
  }

  void Send(const Bytes& frame) {
    const io::FrameToSend bytes(frame);
    ASSERT_EQ(left_->Transmit({&bytes, 1}), 1u);
  }
  // Returns the next frame that arrives on an interface; empty: none arrived within a second.
  static Bytes Next(io::RingPort& port) {
    const Instant end = MonotonicClock::Now() + Duration::Seconds(1);
    std::array<io::ReceivedFrame, 1> one;
    while (port.Receive(one) == 0) {
      if (MonotonicClock::Now() > end) return {};
    }
    return {one[0].bytes.begin(), one[0].bytes.end()};
  }
  // Sets the MTU of the first RBridge's interface towards the second.
  void SetMtuOfFirst(int mtu) {
    sys::Netlink netlink(spaces_[0].get());
    netlink.SetMtu(netlink.IfIndex("out"), mtu);
  }
  Drops DropsOfFirst() const { return sinks_[0]->Drops(); }
  io::RingPort& between() { return *between_; }
  io::RingPort& right() { return *right_; }
  int fd() const { return fd_.get(); }
  // Returns the frame that RBridge `rbridge` of the chain should send when it receives `frame`;
  // empty: none.
  Bytes Expected(size_t rbridge, const Bytes& frame) {
    Sent sent;
    Reference().Take(*tables_.at(rbridge), 0, frame, sent);
    return sent[1].empty() ? Bytes() : sent[1].front();
  }

 private:
  struct End {
    int namespace_fd;
    std::string name;
    wire::MacAddress mac;
  };

  void Wire(const End& one, const End& other) {
    const auto to_end = [](const End& end) {
      return sys::VethEnd{
          .namespace_fd = end.namespace_fd, .name = end.name, .mac = end.mac, .mtu = kMtu};
    };
    session_.CreateVethPair(to_end(one), to_end(other));
    for (const End& end : {one, other}) {
      sys::DisableOffloads(end.namespace_fd, end.name, sys::Offloads::kAll);
      sys::Netlink netlink(end.namespace_fd);
      netlink.SetUp(netlink.IfIndex(end.name), true);
    }
  }

  void SetTables(size_t i) {
    tables_.at(i) = std::make_unique<Tables>();
    Tables& tables = *tables_.at(i);
    tables.Clear();
    tables.nickname = static_cast<Nickname>(1 + i);
    tables.hop_count = 20;
    tables.own_tree = 0;
    for (PortIndex port = 0; port < 2; ++port) {
      tables.ports[port] = {.mac = PortMac(static_cast<uint32_t>(2 * i + port)),
                            .exists = 1,
                            .serves_terminals = static_cast<uint8_t>(port == i ? 1 : 0)};
    }
    const auto to_other = static_cast<PortIndex>(1 - i);
    tables.SetAdjacency(0, {.mac = PortMac(i == 0 ? 2 : 1), .port = to_other});
    tables.trees[0].root = 1;
    tables.trees[0].neighbours[0] = true;
    tables.by_nickname[1 + i] = 0;
    tables.by_nickname[2 - i] = 1;
    tables.rbridges[0].nickname = tables.nickname;
    tables.rbridges[1].nickname = static_cast<Nickname>(2 - i);
    tables.rbridges[1].next_hop = tables.rbridges[1].tree_neighbour[0] = 0;
    for (const uint16_t vlan : {1, 5}) {
      for (const uint32_t terminal : {0, 1}) {
        const bool is_local = terminal == i;
        tables.terminals.Set(rbridge::MakeKey(TerminalMac(terminal), vlan),
                             {.rbridge = static_cast<RBridgeIndex>(is_local ? 0 : 1),
                              .port = is_local ? static_cast<PortIndex>(i) : kNone},
                             0);
      }
    }
    controls_.at(i)->Publish(tables);
  }

  static std::unique_ptr<io::RingPort> Open(int namespace_fd, const std::string& name) {
    const sys::NamespaceScope scope(namespace_fd);
    sys::PacketSocket socket = sys::OpenPacketSocket(name, true);
    io::RingOptions options;
    options.ifindex = socket.ifindex;
    options.slot_bytes = kMtu + 100;
    return std::make_unique<io::RingPort>(std::move(socket.fd), options);
  }

  UniqueFd fd_ = sys::OpenCurrentNamespace();
  sys::Netlink session_;
  std::array<UniqueFd, 2> spaces_;
  std::array<std::optional<EbpfRBridge>, 2> sinks_;
  std::array<std::optional<Control>, 2> controls_;
  std::array<std::unique_ptr<Tables>, 2> tables_;
  std::unique_ptr<io::RingPort> left_, between_, right_;
};

// Returns a terminal's frame with `size` bytes after its headers; frames of the types 0x0800 and
// 0x86dd are forwarded by the program without copying their bytes.
Bytes TerminalFrameOf(const wire::MacAddress& to, bool tagged, uint32_t vlan, uint32_t type,
                      size_t size) {
  Bytes bytes;
  Append(bytes, to);
  Append(bytes, TerminalMac(0));
  if (tagged) {
    Append16(bytes, 0x8100);
    Append16(bytes, vlan);
  }
  Append16(bytes, type);
  for (size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(i * 7));
  return bytes;
}

TEST(RBridgeWiresTest, FramesOverWiresAreAsOnAWire) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
  sys::InScratchNamespace([&] {
    Chain chain;
    for (const wire::MacAddress& to : {TerminalMac(1), TerminalMac(7), wire::kBroadcastMac}) {
      for (const uint32_t type : {0x0800, 0x86dd, 0x0806, 0x88b5}) {
        for (const uint32_t vlan : {0, 1, 5}) {
          for (const size_t size : {28, 46, 60, 1500, 2900}) {
            SCOPED_TRACE(fmt::format("to {}, type {:x}, VLAN {}, {} bytes", to.ToString(), type,
                                     vlan, size));
            const Bytes frame = TerminalFrameOf(to, vlan != 0, vlan, type, size);
            const Bytes encapsulated = chain.Expected(0, frame);
            ASSERT_FALSE(encapsulated.empty());
            chain.Send(frame);
            ASSERT_EQ(Hex(Chain::Next(chain.between())), Hex(encapsulated));
            ASSERT_EQ(Hex(Chain::Next(chain.right())), Hex(chain.Expected(1, encapsulated)));
          }
        }
      }
    }
  });
}

// Short frames are padded as on a real Ethernet, but only to the minimum length that the eBPF
// program needs.
TEST(RBridgeWiresTest, ShortFramesArePadded) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
  sys::InScratchNamespace([&] {
    constexpr size_t kLeast = 38, kTag = 4;
    Chain chain;
    for (const wire::MacAddress& to : {TerminalMac(1), TerminalMac(7), wire::kBroadcastMac}) {
      for (const uint32_t vlan : {0, 5}) {
        for (const size_t size : {0, 1, 9, 10, 13, 23, 24}) {
          if (vlan != 0 && size < 2) continue;  // the kernel treats the tag as truncated
          SCOPED_TRACE(fmt::format("to {}, VLAN {}, {} bytes", to.ToString(), vlan, size));
          const Bytes frame = TerminalFrameOf(to, vlan != 0, vlan, 0x88b5, size);
          Bytes padded = frame;
          padded.resize(vlan != 0 ? kLeast + kTag : kLeast);
          chain.Send(frame);
          const Bytes encapsulated = chain.Expected(0, padded);
          ASSERT_EQ(Hex(Chain::Next(chain.between())), Hex(encapsulated));
          ASSERT_EQ(Hex(Chain::Next(chain.right())), Hex(padded));
        }
      }
    }
  });
}

// The eBPF program checks a frame's length against the outgoing interface's MTU:
// bpf_redirect_peer() delivers frames of any length to a wire's other end, but the interface would
// not send them.
TEST(RBridgeWiresTest, AnMtuLimitsWhatLeaves) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
  sys::InScratchNamespace([&] {
    constexpr int kLess = 1024;
    constexpr size_t kFits = kLess - 24;  // bytes after the terminal's Ethernet header
    Chain chain;
    chain.SetMtuOfFirst(kLess);
    uint64_t too_long = 0;
    for (const wire::MacAddress& to : {TerminalMac(1), TerminalMac(7), wire::kBroadcastMac}) {
      for (const uint32_t type : {0x0800, 0x88b5}) {
        SCOPED_TRACE(fmt::format("to {}, type {:x}", to.ToString(), type));
        chain.Send(TerminalFrameOf(to, false, 0, type, kFits + 1));
        ++too_long;
        const Bytes fits = TerminalFrameOf(to, false, 0, type, kFits);
        chain.Send(fits);
        ASSERT_EQ(Hex(Chain::Next(chain.between())), Hex(chain.Expected(0, fits)));
        ASSERT_EQ(Hex(Chain::Next(chain.right())), Hex(fits));
        EXPECT_EQ(chain.DropsOfFirst(), (Drops{{"not_sent", too_long}}));
      }
    }
  });
}

// The stack of the receiving kernel accepts the packet: it would drop a packet of a frame with
// wrong metadata (sk_buff).
TEST(RBridgeWiresTest, PacketsOverWiresReachTheStack) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
  sys::InScratchNamespace([&] {
    Chain chain;
    sys::Netlink session;
    session.AddAddress(session.IfIndex("right"), wire::IpPrefix::Parse("10.0.0.2/24"));
    const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_port = htons(4000);
    ASSERT_EQ(bind(socket.get(), reinterpret_cast<sockaddr*>(&own), sizeof own), 0);
    Bytes frame = TerminalFrameOf(TerminalMac(1), false, 0, 0x0800, 0);
    // The packet: IPv4 from 10.0.0.1 to 10.0.0.2, UDP without checksum to port 4000, "hello".
    for (const int byte :
         {0x45, 0, 0, 33,   0,    0,    0,    0, 64, 17, 0x66, 0xca, 10,   0,    0,    1,   10,
          0,    0, 2, 0x0f, 0xa1, 0x0f, 0xa0, 0, 13, 0,  0,    0x68, 0x65, 0x6c, 0x6c, 0x6f}) {
      frame.push_back(static_cast<std::byte>(byte));
    }
    chain.Send(frame);
    EXPECT_EQ(Hex(Chain::Next(chain.right())), Hex(frame));
    std::array<char, 16> bytes{};
    EXPECT_EQ(recv(socket.get(), bytes.data(), bytes.size(), 0), 5);
  });
}

}  // namespace
}  // namespace viaduct::fib
