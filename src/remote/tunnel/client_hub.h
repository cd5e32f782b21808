// The data path of a tunnel's hub: Ethernet frames between the hub's nodes and their clients, in
// VXLAN (RFC 7348). A client needs nothing but a kernel's VXLAN interface.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "base/wire/vxlan.h"
#include "port/super_frame.h"
#include "remote/tunnel/intake.h"
#include "remote/tunnel/readers.h"
#include "remote/tunnel/underlay.h"

namespace viaduct::tunnel {

// Counters of a client's frames; every dropped frame is counted.
struct ClientCounters : ArrivalCounters {
  // Frames that were refused unread: the client's share of the socket's buffer was full, or the
  // maximum number of its frames waited.
  uint64_t rx_dropped_socket_full = 0;
  uint64_t tx_frames = 0, tx_bytes = 0;  // frames to the client
  uint64_t tx_dropped_unclaimed = 0;     // frames to a node without a client
  uint64_t tx_dropped_too_long = 0;
  uint64_t tx_dropped_refused = 0;  // frames that the kernel refused: no route, no buffer

  uint64_t Lost() const {
    return rx_dropped_socket_full + rx_dropped_overload + rx_dropped_spoofed +
           rx_dropped_malformed + rx_dropped_too_long + tx_dropped_unclaimed + tx_dropped_too_long +
           tx_dropped_refused;
  }
};

struct HubCounters : DatagramCounters {
  // Datagrams that were lost because a socket's buffer was full. Datagrams beyond a client's share
  // are not included.
  uint64_t dropped_socket_full = 0;
  // Datagrams that arrived outside of the encryption and were lost because a socket was full.
  uint64_t dropped_spoofed = 0;
};

// Used by one thread, and by threads that read datagrams for this thread (Options::readers). Frames
// from clients are read in the order of their arrival and wait in a FairQueue; frames to clients
// leave with Flush().
class ClientHub {
 public:
  struct Options {
    std::string address = {};          // the hub's address; empty: every address of the machine
    uint16_t port = wire::kVxlanPort;  // the hub's port, and the default port of clients
    size_t waiting_frames = 4096;      // maximum number of waiting frames, of all clients
    // The number of threads that read, each from a separate socket; 0: the caller of Read() reads.
    // The frames of each client keep their order; the frames of different clients keep their order
    // except within a burst.
    size_t readers = 0;
    // A socket of a network that only clients' encrypted tunnels lead to (Underlay::Options):
    // clients' frames are received and sent there, and datagrams that arrive at `port` are dropped
    // and counted. -1: no such socket. At most one thread reads the socket.
    int inner_socket = -1;
    // Whether a program in the kernel divides each socket's buffer among the clients, if that is
    // possible.
    bool shares = true;
  };
  using Arrival = Intake::Arrival;

  // Throws UsageError if a VNI is given twice or the port is not available. The hub takes ownership
  // of the inner socket.
  ClientHub(std::vector<RemoteNode> nodes, const Options& options);

  const std::vector<RemoteNode>& nodes() const { return intake_.nodes(); }
  // Returns the socket that sends datagrams. The other sockets have the same port and buffer sizes.
  const Underlay& underlay() const { return *sockets_.front(); }
  // Returns the port that clients must send to. If there is an inner socket, returns the port
  // outside of the encryption, which clients must not use.
  uint16_t port() const { return outside_ ? outside_->port() : underlay().port(); }
  // Returns the reason why the sockets' buffers are not divided among the clients; empty if they
  // are divided.
  const std::string& why_unshared() const { return why_unshared_; }
  size_t queue() const { return intake_.queue(); }  // maximum number of waiting frames
  size_t readers() const { return readers_ ? sockets_.size() : 0; }
  // Returns the number of datagrams that were read.
  uint64_t datagrams() const { return intake_.counters().datagrams; }
  // Returns a descriptor that is readable if Read() must be called.
  int fd() const { return readers_ ? readers_->fd() : underlay().fd(); }

  // Returns all open descriptors of the hub.
  std::vector<int> Descriptors() const;

  // Reads a burst of datagrams, unless there are threads that read. Returns whether more datagrams
  // may be available. The first call starts the threads: the process must not fork after it.
  bool Read();
  // Returns the next frame from a client; `now`: CLOCK_REALTIME.
  std::optional<Arrival> Take(Instant now) { return intake_.Take(now); }
  bool HasWaiting() const { return intake_.HasWaiting(); }
  // Whether clients are served in turns, not in order of arrival, because more than
  // FairQueue::kInOrder frames have waited.
  bool IsOverloaded() const { return intake_.IsOverloaded(); }
  // Sends a frame to the node's client.
  void Send(size_t node, std::span<const std::byte> frame);
  // Reserves memory for a frame to the node's client. The caller must write the frame before the
  // next call. Returns an empty span if the frame is dropped, and counts it.
  std::span<std::byte> Reserve(size_t node, size_t length);
  void Flush();
  // Reads and counts the datagrams that arrived outside of the encryption; the counters include
  // these datagrams only after this call.
  void CountOutside();

  // Makes a host the node's client: frames are received from and sent to the host. `port`: the
  // client's port; 0: the hub's port.
  void Claim(size_t node, const wire::IpAddress& client, uint16_t port = 0);
  void Release(size_t node) { intake_.Release(node); }
  // Returns the node's client, if it has one.
  std::optional<Peer> ClientOf(size_t node) const { return intake_.ClientOf(node); }

  // Returns the counters of the node's client, including frames that the kernel refused.
  ClientCounters CountersOf(size_t node) const;
  size_t WaitingOf(size_t node) const { return intake_.WaitingOf(node); }
  HubCounters counters() const;

 private:
  void ShareSockets();

  std::vector<std::unique_ptr<Underlay>> sockets_;
  std::vector<SocketShares*> shares_;  // the shares of each socket; empty: the clients do not share
  std::string why_unshared_ = "the division was not requested";
  // The socket at the hub's port outside of the encryption, if there is an inner socket.
  std::optional<Underlay> outside_;
  Intake intake_;
  io::SuperFrameSplitter splitter_;
  std::vector<ClientCounters> sent_;  // for each node: counters of frames to its client
  std::optional<Readers> readers_;
};

}  // namespace viaduct::tunnel
