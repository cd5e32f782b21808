// The frames that the clients of a tunnel's hub send: they are checked, and kept until Take()
// returns them.
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

// A node that a remote client may claim.
struct RemoteNode {
  std::string name;
  uint32_t vni = 0;         // 1 to VxlanHeader::kMaxVni; unique
  size_t max_frame = 1518;  // bytes, without FCS; longer frames are dropped in both directions
  size_t tag_room = 0;      // bytes of max_frame for VLAN tags, which most frames do not have
  // The client's address. Empty: the client is the host whose address is passed to Claim().
  std::optional<wire::IpAddress> address = {};
  // Used if `address` is empty: the first host that sends a frame with the VNI becomes the client.
  bool anyone = false;
};

// Returns the largest RemoteNode::max_frame of the nodes, bytes.
size_t LongestFrame(const std::vector<RemoteNode>& nodes);

// Counters of a client's incoming frames; every dropped frame is counted.
struct ArrivalCounters {
  uint64_t rx_frames = 0, rx_bytes = 0;  // frames from the client that Take() returned
  uint64_t rx_dropped_overload = 0;      // frames beyond the client's share of waiting frames
  uint64_t rx_dropped_spoofed = 0;       // frames from a host that has not claimed the node
  // Frames that are shorter than an Ethernet header, or that the splitter cannot parse.
  uint64_t rx_dropped_malformed = 0;
  uint64_t rx_dropped_too_long = 0;
  Duration waited;  // the sum of the frames' times between the socket and Take()
  Duration longest_wait;
};

// Counters of datagrams that belong to no client.
struct DatagramCounters {
  uint64_t datagrams = 0;            // all datagrams that were read
  uint64_t dropped_malformed = 0;    // datagrams that are not VXLAN
  uint64_t dropped_unknown_vni = 0;  // datagrams whose VNI no node has
};

// The queue of incoming frames. Any thread may call any function, but only one thread may take
// frames.
class Intake {
 public:
  struct Arrival {
    size_t node = 0;             // index in nodes()
    std::span<std::byte> frame;  // from the destination MAC on; valid until the next Take()
    Instant received;            // the kernel's stamp, CLOCK_REALTIME
  };

  // `port`: the UDP port of clients that are not set by Claim(). Throws UsageError if a VNI is
  // given twice.
  Intake(std::vector<RemoteNode> nodes, size_t waiting_frames, uint16_t port);

  const std::vector<RemoteNode>& nodes() const { return nodes_; }
  size_t queue() const { return queue_size_; }

  // After this call, informs `shares` of the client of each node. Must be called before any other
  // function; the shares must outlive this object.
  void SetShares(std::vector<SocketShares*> shares);

  // Accepts a message. Frames of one client are queued in the order of the calls. `splitter`: owned
  // by the calling thread.
  void Accept(const Underlay::Message& message, io::SuperFrameSplitter& splitter);
  // Counts a message that arrived outside of the clients' tunnels.
  void Reject(const Underlay::Message& message);
  // Returns the next frame from a client; `now`: CLOCK_REALTIME.
  std::optional<Arrival> Take(Instant now);
  bool HasWaiting() const;
  // Whether clients are served in turns, not in order of arrival, because more than
  // FairQueue::kInOrder frames have waited.
  bool IsOverloaded() const;

  // Makes the host `client` the node's client: the node's frames come from this host.
  void Claim(size_t node, const Peer& client);
  void Release(size_t node);
  // Returns the node's client, if it has one.
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
  // Informs the sockets of the number of further frames of a client that may wait, after a change
  // of the client's waiting frames.
  void TellRoom(size_t node) VIADUCT_THREAD_SAFETY(requires_capability(mutex_));
  void SetLimit(size_t node, std::optional<size_t> frames);
  // Counts the datagram. Returns the index in nodes_ of the node that has the datagram's VNI, or
  // nothing if no node has this VNI.
  std::optional<size_t> CountDatagram(std::span<const std::byte> bytes)
      VIADUCT_THREAD_SAFETY(requires_capability(mutex_));
  void AcceptDatagram(std::span<std::byte> bytes, size_t segment, const Underlay::Message& message,
                      io::SuperFrameSplitter& splitter)
      VIADUCT_THREAD_SAFETY(requires_capability(mutex_));
  // Accepts a frame made by a client's kernel, which may have left it incomplete.
  void AcceptFrame(size_t node, std::span<std::byte> frame, size_t segment, Instant received,
                   io::SuperFrameSplitter& splitter)
      VIADUCT_THREAD_SAFETY(requires_capability(mutex_));

  const std::vector<RemoteNode> nodes_;
  const uint16_t port_;
  const size_t queue_size_;       // maximum number of waiting frames
  std::vector<uint32_t> by_vni_;  // for each VNI, the index in nodes_ plus 1; 0: no node
  std::vector<SocketShares*> shares_;
  mutable Mutex mutex_;
  std::vector<Client> clients_ VIADUCT_GUARDED_BY(mutex_);
  FairQueue queue_ VIADUCT_GUARDED_BY(mutex_);
  DatagramCounters counters_ VIADUCT_GUARDED_BY(mutex_);
  // Whether limits for some clients are set in the sockets.
  bool has_limits_ VIADUCT_GUARDED_BY(mutex_) = false;
};

}  // namespace viaduct::tunnel
