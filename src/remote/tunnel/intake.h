// What the clients of a tunnel's hub send: checked, and kept for whoever takes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"
#include "port/super_frame.h"
#include "remote/tunnel/fair_queue.h"
#include "remote/tunnel/underlay.h"

namespace viaduct::tunnel {

// A node that a client elsewhere may claim.
struct RemoteNode {
  std::string name;
  uint32_t vni = 0;         // 1 to VxlanHeader::kMaxVni; each once
  size_t max_frame = 1518;  // bytes, without FCS; longer ones are dropped in both directions
  size_t tag_room = 0;      // how much of that is for VLAN tags, which most frames do not have
  // Its client's address. Empty: whoever Claim()s it.
  std::optional<wire::IpAddress> address = {};
  // Without `address`: the first host that sends a frame with its VNI is its client from then on.
  bool anyone = false;
};

// The longest frame of any node, bytes.
size_t LongestFrame(const std::vector<RemoteNode>& nodes);

// A client's frames on their way in; none is dropped uncounted.
struct ArrivalCounters {
  uint64_t rx_frames = 0, rx_bytes = 0;  // from the client: handed over by Take()
  uint64_t rx_dropped_overload = 0;      // more than its share waited
  uint64_t rx_dropped_spoofed = 0;       // from a host that has not claimed the node
  uint64_t rx_dropped_malformed = 0;     // shorter than an Ethernet header, or not what it says
  uint64_t rx_dropped_too_long = 0;
  Duration waited;  // of its frames between the socket and Take(), the sum
  Duration longest_wait;
};

// Datagrams that belong to no client.
struct DatagramCounters {
  uint64_t datagrams = 0;            // that were read, all of them
  uint64_t dropped_malformed = 0;    // not VXLAN
  uint64_t dropped_unknown_vni = 0;  // no node has this number
};

// Any thread may call anything; frames are taken by one.
class Intake {
 public:
  struct Arrival {
    size_t node = 0;             // its index
    std::span<std::byte> frame;  // from the destination MAC on; valid until the next Take()
    Instant received;            // the kernel's stamp, CLOCK_REALTIME
  };

  // `port`: of clients which do not say theirs. Throws UsageError if a VNI is given twice.
  Intake(std::vector<RemoteNode> nodes, size_t waiting_frames, uint16_t port);

  const std::vector<RemoteNode>& nodes() const { return nodes_; }
  size_t queue() const { return queue_size_; }

  // They are told of each client. Before anything else is called; they must outlive this object.
  void SetShares(std::vector<SocketShares*> shares);

  // Frames of one client are queued in the order of these calls. `splitter`: the caller's.
  void Accept(const Underlay::Message& message, io::SuperFrameSplitter& splitter);
  // Counts what has come by a way that is no client's.
  void Reject(const Underlay::Message& message);
  // The next frame from a client; `now`: CLOCK_REALTIME.
  std::optional<Arrival> Take(Instant now);
  bool HasWaiting() const;
  // More wait than are taken in order of arrival: clients take turns.
  bool IsOverloaded() const;

  // From now on the node's frames come from this host.
  void Claim(size_t node, const Peer& client);
  void Release(size_t node);
  // Its client, if it has one.
  std::optional<Peer> ClientOf(size_t node) const;

  ArrivalCounters CountersOf(size_t node) const;
  DatagramCounters counters() const;
  size_t WaitingOf(size_t node) const;

 private:
  struct Client {
    std::optional<Peer> peer;
    ArrivalCounters counters;
  };

  void SetClient(size_t node, std::optional<Peer> peer)
      VIADUCT_THREAD_SAFETY(requires_capability(mutex_));
  // Tells the sockets, after a change of what waits of a client, how much more may.
  void TellRoom(size_t node) VIADUCT_THREAD_SAFETY(requires_capability(mutex_));
  void SetLimit(size_t node, std::optional<size_t> frames);
  // Counts the datagram. The index in nodes_ that it is for, if it is any.
  std::optional<size_t> CountDatagram(std::span<const std::byte> bytes)
      VIADUCT_THREAD_SAFETY(requires_capability(mutex_));
  void AcceptDatagram(std::span<std::byte> bytes, size_t segment, const Underlay::Message& message,
                      io::SuperFrameSplitter& splitter)
      VIADUCT_THREAD_SAFETY(requires_capability(mutex_));
  // Of a client's kernel: perhaps one that is to be completed.
  void AcceptFrame(size_t node, std::span<std::byte> frame, size_t segment, Instant received,
                   io::SuperFrameSplitter& splitter)
      VIADUCT_THREAD_SAFETY(requires_capability(mutex_));

  const std::vector<RemoteNode> nodes_;
  const uint16_t port_;
  const size_t queue_size_;       // frames
  std::vector<uint32_t> by_vni_;  // index in nodes_, plus 1
  std::vector<SocketShares*> shares_;
  mutable Mutex mutex_;
  std::vector<Client> clients_ VIADUCT_GUARDED_BY(mutex_);
  FairQueue queue_ VIADUCT_GUARDED_BY(mutex_);
  DatagramCounters counters_ VIADUCT_GUARDED_BY(mutex_);
  bool has_limits_ VIADUCT_GUARDED_BY(mutex_) = false;  // those of the sockets, for some clients
};

}  // namespace viaduct::tunnel
