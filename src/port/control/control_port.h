// A port that presents Ethernet frames but consists of kernel sockets that match exactly what a
// control plane has bound.
//
// A packet socket that receives every frame costs each forwarded data packet 0.05 to 0.3 us per
// hop, even with a filter. Sockets bound to what the protocol uses cost data packets nothing, and
// the kernel never answers the protocol's packets with ICMP errors, because a socket is bound.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "base/fd.h"
#include "base/poller.h"
#include "base/wire/address.h"
#include "port/port.h"

namespace viaduct::io {

// The traffic that one socket of a control port carries.
struct ControlClaim {
  enum class Kind : uint8_t {
    kUdp,        // number: local UDP port
    kRawIp,      // number: IP protocol (not UDP)
    kEtherType,  // number: EtherType (neither IPv4 nor IPv6); `family` is not used
  };
  Kind kind = Kind::kUdp;
  wire::Family family = wire::Family::kIpv4;
  uint16_t number = 0;
  friend auto operator<=>(const ControlClaim&, const ControlClaim&) = default;
};

class ControlSocket;

struct ControlOptions {
  int ifindex = 0;
  wire::MacAddress mac;  // the MAC address of the interface
};

// Rebuilds received frames from the socket's metadata: destination MAC from the destination address
// (the interface's, broadcast, or the group's), a locally administered source MAC that stands for
// the source address, correct checksums. IP options, identification and the DF bit of UDP datagrams
// and of IPv6 packets are not kept; datagrams the network fragmented arrive whole.
//
// Sent frames: the MAC addresses of IP packets are ignored; the kernel resolves the next hop, so
// the protocol's device needs no ARP. Fragments and IPv6 packets with extension headers leave
// unchanged, through a raw socket that only sends (number 255). The first packet to a multicast
// group joins that group on the socket's interface, so that symmetric protocols (RIP, 224.0.0.9)
// also receive.
// Broadcasts and multicasts that the port has sent are not received.
class ControlPort final : public AnyPort {
 public:
  // Called from inside Transmit(), once per claim, for a frame no socket can express: returns the
  // socket to add (the frame then leaves through it), or an empty descriptor to refuse: this and
  // later frames of the claim are dropped and counted. An exception passes through Transmit().
  using Opener = std::function<UniqueFd(const ControlClaim&)>;

  // Throws SystemError.
  explicit ControlPort(const ControlOptions& options, Opener opener = nullptr);
  ~ControlPort() override;

  // `socket`: a UDP socket bound to (any address, claim.number), a raw IP socket, or a packet
  // socket (SOCK_RAW) bound to the EtherType; each bound to the interface. This function sets the
  // options it needs (packet info, TTL, broadcast, no multicast loop...), which needs no privilege.
  // Replaces the socket of an equal claim. Throws SystemError.
  void AddSocket(const ControlClaim& claim, UniqueFd socket);
  bool HasSocket(const ControlClaim& claim) const;
  // Receives packets to this group through every socket of its family, present and future.
  // Throws SystemError.
  void JoinMulticast(const wire::IpAddress& group);

  size_t Receive(std::span<ReceivedFrame> frames) override;
  size_t Transmit(std::span<const FrameToSend> frames) override;
  int fd() override { return poller_.fd(); }
  PortCounters Counters() override { return counters_; }

 private:
  struct Messages;

  void Remove(const ControlClaim& claim);
  ControlSocket* FindOrOpen(const ControlClaim& claim);
  size_t ReceiveFrom(ControlSocket& socket, std::span<ReceivedFrame> frames, size_t& slots_used);

  ControlOptions options_;
  Opener opener_;
  Poller poller_;
  std::map<ControlClaim, std::unique_ptr<ControlSocket>> sockets_;
  std::set<ControlClaim> refused_;
  std::vector<wire::IpAddress> groups_;
  std::unique_ptr<Messages> messages_;  // buffers of a burst
  PortCounters counters_;
};

}  // namespace viaduct::io
