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
  bool up = false;       // IFF_UP: administratively
  bool running = false;  // IFF_RUNNING: with a carrier, as far as the kernel has acted on it
  bool carrier = false;  // carrier of the device, up to a second before IFF_RUNNING
  int master = 0;        // ifindex of the bridge or bond it belongs to, or 0
  std::string kind;      // "veth", "bridge", "tun"...; empty for a physical interface
  bool ethernet = true;  // frames have Ethernet headers (not: TUN, tunnels of IP, PPP...)
  LinkCounters counters;
};

struct InterfaceAddress {
  int ifindex = 0;
  wire::IpPrefix address;
  bool is_tentative = false;  // IPv6: the kernel does not send from it yet
};

struct VethEnd {
  int namespace_fd = -1;  // the end's namespace; -1: the session's own
  std::string name;
  std::optional<wire::MacAddress> mac;  // absent: a random one by the kernel
  int mtu = 1500;
  // 0: the kernel chooses. If two ends have the same number, the kernel brings the carrier up
  // lazily, up to a second late (net/core/link_watch.c takes them for one stand-alone device).
  int ifindex = 0;
};

// A session in the namespace in which it was opened. Every call is one request and its
// acknowledgement; all throw SystemError naming the object. One thread at a time.
class Netlink {
 public:
  Netlink() = default;  // the calling thread's namespace
  explicit Netlink(int namespace_fd) : socket_(namespace_fd) {}
  // Uses a socket of that namespace which another process has opened, such as LinkMonitor's. Such a
  // session may only query: the kernel also checks the privileges of the sender.
  explicit Netlink(UniqueFd socket) : socket_(std::move(socket)) {}

  // Creates both ends in their final namespaces, with name, MAC and MTU; down.
  void CreateVethPair(const VethEnd& a, const VethEnd& b);
  // Creates a learning bridge without spanning tree, multicast snooping and forward delay; down.
  void CreateBridge(const std::string& name, int mtu);
  // Deletes a link. A link that is gone already, as with the namespace of its other end, is no
  // error.
  void DeleteLink(int ifindex);

  // Returns nullopt if there is no such interface.
  std::optional<LinkInfo> FindLink(const std::string& name);
  std::optional<LinkInfo> FindLink(int ifindex);
  LinkInfo GetLink(const std::string& name);  // throws if there is none
  int IfIndex(const std::string& name) { return GetLink(name).ifindex; }
  std::vector<LinkInfo> Links();

  void SetUp(int ifindex, bool up);
  void SetUpAndArp(int ifindex, bool up, bool arp);  // both at once
  // Waits until the kernel really transmits on an interface that is up: it acts on a new carrier in
  // the background, and drops frames that are sent before. Returns false if there is no carrier
  // within the timeout.
  bool AwaitRunning(const std::string& name, Duration timeout);
  // Waits until no address of an interface is tentative (RFC 4862 section 5.4): the kernel sends
  // nothing from a tentative address, even if it looks for no duplicates, because it finds that out
  // in the background (net/ipv6/addrconf.c, addrconf_dad_work). Returns false if one is tentative
  // until the timeout.
  bool AwaitAddresses(int ifindex, Duration timeout);
  // Renames an interface that is down. EEXIST: another interface of the namespace has the name.
  void Rename(int ifindex, const std::string& name);
  void SetMtu(int ifindex, int mtu);
  void SetQueueLength(int ifindex, uint32_t packets);  // on a TUN device: of packets to be read
  void SetMac(int ifindex, const wire::MacAddress& mac);
  void SetMaster(int ifindex, int master_ifindex);  // 0: removes it from its master
  void SetArp(int ifindex, bool on);                // off: IFF_NOARP
  // Sets whether the kernel makes IPv6 link-local addresses: true: EUI-64 of the MAC (its default);
  // false: none.
  void SetIpv6LinkLocal(int ifindex, bool on);
  // Moves an interface that is down to another namespace, under another name. With `keeps_ifindex`
  // a taken ifindex there is an error (EBUSY); without it the ifindex may change.
  void MoveLink(int ifindex, int namespace_fd, const std::string& new_name,
                bool keeps_ifindex = false);

  // Adds an address; an IPv6 address without duplicate address detection. An address that already
  // exists is an error (EEXIST). Without `is_connected` the kernel gets no route to the address's
  // network (IFA_F_NOPREFIXROUTE).
  void AddAddress(int ifindex, const wire::IpPrefix& address, bool is_connected = true);
  void RemoveAddress(int ifindex, const wire::IpPrefix& address);
  std::vector<wire::IpPrefix> Addresses(int ifindex);
  // Returns the addresses of all interfaces, in one request: there may be hundreds.
  std::vector<InterfaceAddress> Addresses();

  // Adds a route with protocol static. No gateway: the destination is on the link.
  void AddRoute(const wire::IpPrefix& destination, const std::optional<wire::IpAddress>& gateway,
                int ifindex, uint32_t metric = 0);
  void AddPermanentNeighbour(int ifindex, const wire::IpAddress& address,
                             const wire::MacAddress& mac);
  // Makes packets to this neighbour wait in its queue (unres_qlen_bytes), as if its MAC address
  // were being resolved, until ReleaseNeighbour(), which sends them in their order.
  void HoldNeighbour(int ifindex, const wire::IpAddress& address);
  void ReleaseNeighbour(int ifindex, const wire::IpAddress& address, const wire::MacAddress& mac);

  // Forgets neighbours that have not answered: the kernel asks for them anew with the next packet,
  // not after the rest of a second. Packets that waited for them are lost.
  void ForgetUnresolvedNeighbours(int ifindex);

  NetlinkSocket& socket() { return socket_; }

 private:
  void SetNeighbour(int ifindex, const wire::IpAddress& address, uint16_t state,
                    const wire::MacAddress* mac);

  NetlinkSocket socket_;
};

// An event of an interface, or its present state (the kernel repeats itself).
struct LinkEvent {
  int ifindex = 0;
  std::string name;
  bool up = false;
  bool running = false;
  bool carrier = false;
  bool removed = false;  // deleted, or moved to another namespace
};

// Watches the links of one namespace. The kernel removes the routes through an interface that goes
// down; a process that mirrors routes must re-install them after an event with `up`.
class LinkMonitor {
 public:
  explicit LinkMonitor(int namespace_fd);
  // Takes over another process's monitor, which was passed to this one. Needs no privilege.
  explicit LinkMonitor(UniqueFd socket) : socket_(std::move(socket)) {}
  UniqueFd Release() { return std::move(socket_); }
  // Makes Read() return the present state of every link like an event.
  void RequestAll();
  // Returns a descriptor that is readable if Read() has events.
  int fd() const { return socket_.get(); }
  // Returns all events so far; does not block. `lost` becomes true if the kernel had to drop events
  // (ENOBUFS): then query the links themselves.
  std::vector<LinkEvent> Read(bool* lost = nullptr);

 private:
  UniqueFd socket_;
};

}  // namespace viaduct::sys
