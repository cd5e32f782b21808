// The data path of a tunnel's hub: Ethernet frames between nodes here and clients elsewhere, in
// VXLAN (RFC 7348). A client needs nothing but a kernel's VXLAN interface.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "io/super_frame.h"
#include "tunnel/fair_queue.h"
#include "tunnel/underlay.h"
#include "wire/vxlan.h"

namespace viaduct::tunnel {

// A node that a client elsewhere may claim.
struct RemoteNode {
  std::string name;
  uint32_t vni = 0;         // 1 to VxlanHeader::kMostVni; each once
  size_t max_frame = 1518;  // bytes, without FCS; longer ones are dropped in both directions
  size_t tag_room = 0;      // how much of that is for VLAN tags, which most frames do not have
  // Its client's address. Empty: whoever Claim()s it.
  std::optional<wire::IpAddress> address = {};
  // Without `address`: the first host that sends a frame with its VNI is its client from then on.
  bool anyone = false;
};

// A client's frames; none is dropped uncounted.
struct ClientCounters {
  uint64_t rx_frames = 0, rx_bytes = 0;  // from the client: handed over by Take()
  uint64_t tx_frames = 0, tx_bytes = 0;  // to the client
  uint64_t rx_dropped_overload = 0;      // more than its share waited
  uint64_t rx_dropped_spoofed = 0;       // from a host that has not claimed the node
  uint64_t rx_dropped_malformed = 0;     // shorter than an Ethernet header, or not what it says
  uint64_t rx_dropped_too_long = 0;
  uint64_t tx_dropped_unclaimed = 0;  // there is no client
  uint64_t tx_dropped_too_long = 0;
  uint64_t tx_dropped_refused = 0;  // the kernel did not take it: no route, no buffer
  Duration waited;                  // of its frames between the socket and Take(), the sum
  Duration longest_wait;

  uint64_t Lost() const {
    return rx_dropped_overload + rx_dropped_spoofed + rx_dropped_malformed + rx_dropped_too_long +
           tx_dropped_unclaimed + tx_dropped_too_long + tx_dropped_refused;
  }
};

// Datagrams that belong to no client.
struct HubCounters {
  uint64_t datagrams = 0;            // that were read, all of them
  uint64_t dropped_malformed = 0;    // not VXLAN
  uint64_t dropped_unknown_vni = 0;  // no node has this number
  uint64_t dropped_socket_full = 0;  // nobody knows whose: the kernel had no room for them
};

// One thread. Frames from clients are read in the order of their arrival and wait in a FairQueue;
// frames to clients leave with Flush().
class Hub {
 public:
  struct Options {
    std::string address = {};          // its own; empty: every address of the machine
    uint16_t port = wire::kVxlanPort;  // its own, and that of clients which do not say otherwise
    size_t waiting_frames = 4096;      // from clients, all together
  };
  struct Arrival {
    size_t node = 0;             // index in nodes()
    std::span<std::byte> frame;  // from the destination MAC on; valid until the next Take()
    Instant received;            // the kernel's stamp, CLOCK_REALTIME
  };

  // Throws UsageError if a VNI is given twice or the port cannot be had.
  Hub(std::vector<RemoteNode> nodes, const Options& options);

  const std::vector<RemoteNode>& nodes() const { return nodes_; }
  const Underlay& underlay() const { return underlay_; }
  // Datagrams that were read.
  uint64_t datagrams() const { return counters_.datagrams; }
  // Readable when Read() would find something.
  int Fd() const { return underlay_.Fd(); }

  // Reads a burst of datagrams. Returns whether there may be more.
  bool Read();
  // The next frame from a client; `now`: CLOCK_REALTIME.
  std::optional<Arrival> Take(Instant now);
  bool HasWaiting() const { return !queue_.empty(); }
  // More wait than are taken in order of arrival: clients take turns.
  bool IsOverloaded() const { return queue_.is_fair(); }
  // To the node's client.
  void Send(size_t node, std::span<const std::byte> frame);
  // The same for a frame that the caller writes into the memory returned, before the next call;
  // empty if it is dropped, and counted.
  std::span<std::byte> Reserve(size_t node, size_t length);
  void Flush();

  // From now on the node's frames come from and go to this host. A port of 0 is the hub's own.
  void Claim(size_t node, const wire::IpAddress& client, uint16_t port = 0);
  void Release(size_t node);
  // Its client, if it has one.
  std::optional<Peer> ClientOf(size_t node) const;

  const ClientCounters& CountersOf(size_t node) const { return clients_[node].counters; }
  size_t WaitingOf(size_t node) const { return queue_.SizeOf(node); }
  HubCounters counters() const;

 private:
  struct Client {
    std::optional<Peer> peer;
    ClientCounters counters;
  };

  void Accept(const Underlay::Message& message);
  // Of a client's kernel: perhaps one that is to be completed.
  void AcceptFrame(size_t node, std::span<std::byte> frame, size_t segment, Instant received);

  std::vector<RemoteNode> nodes_;
  std::vector<Client> clients_;
  std::vector<uint32_t> by_vni_;  // index in nodes_, plus 1
  Underlay underlay_;
  io::SuperFrameSplitter splitter_;
  FairQueue queue_;
  HubCounters counters_;
};

}  // namespace viaduct::tunnel
