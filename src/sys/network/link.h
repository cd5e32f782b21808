// Links, addresses, routes and neighbours of one namespace, over netlink.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/time.h"
#include "base/wire/address.h"
#include "sys/network/netlink.h"

namespace viaduct::sys {

// The packets and bytes that have passed an interface since it was made (IFLA_STATS64).
struct LinkCounters {
  uint64_t rx_packets = 0, rx_bytes = 0, rx_dropped = 0;
  uint64_t tx_packets = 0, tx_bytes = 0, tx_dropped = 0;
};

struct LinkInfo {
  int ifindex = 0;
  std::string name;
  wire::MacAddress mac;
  int mtu = 0;
  bool up = false;       // IFF_UP: administratively up
  bool running = false;  // IFF_RUNNING: a carrier, as far as the kernel has processed it
  bool carrier = false;  // the carrier of the device, up to a second before IFF_RUNNING
  int master = 0;        // ifindex of the bridge or bond that has this link as a port, or 0
  std::string kind;      // "veth", "bridge", "tun"...; empty for a physical interface
  bool ethernet = true;  // whether frames have Ethernet headers (not: TUN, tunnels of IP, PPP...)
  LinkCounters counters;
};

struct InterfaceAddress {
  int ifindex = 0;
  wire::IpPrefix address;
  bool is_tentative = false;  // IPv6: the kernel does not send from the address yet
};

struct VethEnd {
  int namespace_fd = -1;  // the namespace of the end; -1: the namespace of the session
  std::string name;
  std::optional<wire::MacAddress> mac;  // absent: the kernel chooses a random address
  int mtu = 1500;
  // The interface's number; 0: the kernel chooses it. If the two ends have the same number, the
  // kernel processes the carrier up to a second late (net/core/link_watch.c mistakes the pair for
  // one device without a peer).
  int ifindex = 0;
};

// A netlink session in the namespace in which it was opened. Every call is one request and its
// acknowledgement; all throw SystemError naming the object concerned. One thread at a time.
class Netlink {
 public:
  Netlink() = default;  // a session in the calling thread's namespace
  explicit Netlink(int namespace_fd) : socket_(namespace_fd) {}
  // Makes a session with a socket that another process, such as LinkMonitor's, has opened in its
  // namespace. The session may only query: the kernel also checks the privileges of the sender.
  explicit Netlink(UniqueFd socket) : socket_(std::move(socket)) {}

  // Creates both ends of a pair in their final namespaces, with name, MAC address and MTU; the ends
  // are down.
  void CreateVethPair(const VethEnd& a, const VethEnd& b);
  // Creates a learning bridge without spanning tree, multicast snooping and forward delay; it is
  // down.
  void CreateBridge(const std::string& name, int mtu);
  // Deletes a link. Does nothing if the link is already gone, for example because the namespace of
  // its other end was removed.
  void DeleteLink(int ifindex);

  // Return nullopt if there is no such interface.
  std::optional<LinkInfo> FindLink(const std::string& name);
  std::optional<LinkInfo> FindLink(int ifindex);
  LinkInfo GetLink(const std::string& name);  // throws if there is no such link
  int IfIndex(const std::string& name) { return GetLink(name).ifindex; }
  std::vector<LinkInfo> Links();

  void SetUp(int ifindex, bool up);
  void SetUpAndArp(int ifindex, bool up, bool arp);  // sets both in one request
  // Waits until the kernel transmits frames on an interface that is up. The kernel processes a new
  // carrier in the background, and until then drops frames. Returns false if the interface has no
  // carrier within the timeout.
  bool AwaitRunning(const std::string& name, Duration timeout);
  // Waits until no address of an interface is tentative (RFC 4862 section 5.4). The kernel sends
  // nothing from a tentative address; even without duplicate address detection an address stays
  // tentative until the kernel has processed it in the background (net/ipv6/addrconf.c,
  // addrconf_dad_work). Returns false if an address is still tentative after the timeout.
  bool AwaitAddresses(int ifindex, Duration timeout);
  // Renames an interface that is down. Throws SystemError with EEXIST if another interface of the
  // namespace has the name.
  void Rename(int ifindex, const std::string& name);
  void SetMtu(int ifindex, int mtu);
  // Sets the length of the transmit queue; on a TUN device this is the queue of packets to be read.
  void SetQueueLength(int ifindex, uint32_t packets);
  void SetMac(int ifindex, const wire::MacAddress& mac);
  void SetMaster(int ifindex, int master_ifindex);  // 0: removes it from its master
  void SetArp(int ifindex, bool on);                // false: IFF_NOARP
  // Sets whether the kernel makes IPv6 link-local addresses. True: from the MAC address (EUI-64;
  // the kernel's default). False: the kernel makes no such addresses.
  void SetIpv6LinkLocal(int ifindex, bool on);
  // Moves an interface that is down to another namespace, under another name. With `keeps_ifindex`
  // it is an error (EBUSY) if the ifindex is taken in that namespace; otherwise the ifindex may
  // change.
  void MoveLink(int ifindex, int namespace_fd, const std::string& new_name,
                bool keeps_ifindex = false);

  // Adds an address; an IPv6 address without duplicate address detection. It is an error (EEXIST)
  // if the address already exists. Without `is_connected` the kernel adds no route to the address's
  // network (IFA_F_NOPREFIXROUTE).
  void AddAddress(int ifindex, const wire::IpPrefix& address, bool is_connected = true);
  void RemoveAddress(int ifindex, const wire::IpPrefix& address);
  std::vector<wire::IpPrefix> Addresses(int ifindex);
  // Returns the addresses of all interfaces, in one request, because there may be hundreds of
  // interfaces.
  std::vector<InterfaceAddress> Addresses();

  // Adds a route with protocol static. Without a gateway the destination is on the link.
  void AddRoute(const wire::IpPrefix& destination, const std::optional<wire::IpAddress>& gateway,
                int ifindex, uint32_t metric = 0);
  void AddPermanentNeighbour(int ifindex, const wire::IpAddress& address,
                             const wire::MacAddress& mac);
  // HoldNeighbour() makes packets to this neighbour wait in the neighbour's queue
  // (unres_qlen_bytes), as if its MAC address were being resolved; ReleaseNeighbour() sends the
  // waiting packets in their order.
  void HoldNeighbour(int ifindex, const wire::IpAddress& address);
  void ReleaseNeighbour(int ifindex, const wire::IpAddress& address, const wire::MacAddress& mac);

  // Deletes neighbours that have not answered: the kernel then asks for their addresses again with
  // the next packet, instead of waiting until its request of one second times out. Packets that
  // waited for these neighbours are lost.
  void ForgetUnresolvedNeighbours(int ifindex);

  NetlinkSocket& socket() { return socket_; }

 private:
  void SetNeighbour(int ifindex, const wire::IpAddress& address, uint16_t state,
                    const wire::MacAddress* mac);

  NetlinkSocket socket_;
};

// An event: a change of an interface, or the current state of the interface (the kernel may report
// the same state more than once).
struct LinkEvent {
  int ifindex = 0;
  std::string name;
  bool up = false;
  bool running = false;
  bool carrier = false;
  bool removed = false;  // the interface was deleted, or moved to another namespace
};

// Watches the links of one namespace. The kernel removes the routes through an interface that is
// set down; a process that mirrors routes must install them again after an event with `up`.
class LinkMonitor {
 public:
  explicit LinkMonitor(int namespace_fd);
  // Takes over the monitor of another process, whose socket was passed to this process. Needs no
  // privilege.
  explicit LinkMonitor(UniqueFd socket) : socket_(std::move(socket)) {}
  UniqueFd Release() { return std::move(socket_); }
  // Requests an event for every link, so that Read() returns the current state of all links.
  void RequestAll();
  // Returns a descriptor that is readable if Read() has events.
  int fd() const { return socket_.get(); }
  // Returns all events that have arrived; does not block. `lost` becomes true if the kernel has
  // dropped events (ENOBUFS): the caller must then query the links.
  std::vector<LinkEvent> Read(bool* lost = nullptr);

 private:
  UniqueFd socket_;
};

}  // namespace viaduct::sys
