// A Carrier that records the frames that it is given, for tests of forwarding programs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/wire/test/packet_builder.h"
#include "plane/forward/outbox.h"

namespace viaduct::forward {

struct FakeCarrier final : Carrier {
  struct Icmpv6Message {
    std::string destination;
    int type, code;
    uint32_t mtu;
  };

  void Transmit(size_t port, std::span<const wire::ConstBytes> bytes) override {
    for (const wire::ConstBytes frame : bytes) {
      sent[port].push_back(wire::packet::Describe(frame));
      frames[port].emplace_back(frame.begin(), frame.end());
    }
  }
  void SendAsOwn(wire::Family, wire::ConstBytes packet, uint32_t ifindex) override {
    own.push_back(wire::packet::DescribePacket(packet));
    own_ifindex = ifindex;
  }
  void SendIcmpv6(const wire::IpAddress& destination, wire::ConstBytes message, uint32_t) override {
    icmpv6.push_back({destination.ToString(), wire::Load8(&message[0]), wire::Load8(&message[1]),
                      wire::Load32(&message[4])});
  }
  void PassUp(size_t port, wire::ConstBytes packet, uint32_t ifindex) override {
    up[port].push_back(wire::packet::DescribePacket(packet));
    up_ifindex = ifindex;
  }
  bool IsEmpty() const { return sent.empty() && own.empty() && icmpv6.empty() && up.empty(); }

  std::map<size_t, std::vector<std::string>> sent;  // descriptions of sent frames, keyed by port
  std::map<size_t, std::vector<std::vector<std::byte>>> frames;
  std::vector<std::string> own;
  uint32_t own_ifindex = 0;
  std::vector<Icmpv6Message> icmpv6;
  std::map<size_t, std::vector<std::string>> up;  // packets passed up, keyed by port of arrival
  uint32_t up_ifindex = 0;
};

}  // namespace viaduct::forward
