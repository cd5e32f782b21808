// A port that presents Ethernet frames but consists of kernel sockets, one for each UDP port, IP
// protocol or EtherType that a control plane uses.
//
// A packet socket that receives every frame costs each forwarded data packet 0.05 to 0.3 us per
// hop, even with a filter. Sockets that are bound to the protocol's UDP port, IP protocol number or
// EtherType do not slow data packets down. Because a socket is bound, the kernel never answers the
// protocol's packets with ICMP errors.
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

// The kind of traffic that one socket of a control port carries.
struct ControlClaim {
  enum class Kind : uint8_t {
    kUdp,        // `number`: local UDP port
    kRawIp,      // `number`: IP protocol, other than UDP
    kEtherType,  // `number`: EtherType, neither IPv4 nor IPv6; `family` is not used
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

// A port of kernel sockets.
//
// Received frames are rebuilt from a socket's payload and metadata: a destination MAC address
// derived from the destination IP address (the MAC address of the interface, of broadcast, or of
// the multicast group), a locally administered source MAC address that stands for the source
// address, and correct checksums. IP options, the identification, and the DF bit of UDP datagrams
// and of IPv6 packets are lost; datagrams that the network fragmented arrive reassembled.
// Broadcasts and multicasts that the port has sent are not received.
//
// In sent frames with IP packets the MAC addresses are ignored: the kernel resolves the next hop,
// so the protocol's device needs no ARP. Fragments and IPv6 packets with extension headers are sent
// unchanged, through a raw socket of IP protocol 255, which only sends. The first packet to a
// multicast group joins the group on the socket's interface, so that protocols that send to a group
// and receive from it (RIP, 224.0.0.9) also receive.
class ControlPort final : public AnyPort {
 public:
  // A function that opens missing sockets. Transmit() calls it once per claim, for a frame that no
  // socket can send. The function returns the socket to add, through which the frame is then sent,
  // or an empty descriptor: the port then drops and counts this frame and later frames of the
  // claim. Transmit() does not catch exceptions of the function.
  using Opener = std::function<UniqueFd(const ControlClaim&)>;

  // Creates a port without sockets. Throws SystemError.
  explicit ControlPort(const ControlOptions& options, Opener opener = nullptr);
  ~ControlPort() override;

  // Adds the socket for a claim, and replaces the socket of an equal claim. `socket`: a UDP socket
  // bound to (any address, claim.number), a raw IP socket, or a packet socket (SOCK_RAW) bound to
  // the EtherType; each must be bound to the interface. Sets the socket options that the port needs
  // (packet info, TTL, broadcast, no multicast loop...), which needs no privilege. Throws
  // SystemError.
  void AddSocket(const ControlClaim& claim, UniqueFd socket);
  bool HasSocket(const ControlClaim& claim) const;
  // Joins a multicast group with every socket of the group's address family, also with sockets that
  // are added later, so that packets to the group are received. Throws SystemError.
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
  std::unique_ptr<Messages> messages_;  // the buffers of a burst
  PortCounters counters_;
};

}  // namespace viaduct::io
