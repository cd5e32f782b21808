// The data path of a tunnel's hub: Ethernet frames between nodes here and clients elsewhere, in
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

// A client's frames; none is dropped uncounted.
struct ClientCounters : ArrivalCounters {
  // Refused unread: its share of the socket's buffer was full, or as many of its frames waited as
  // may.
  uint64_t rx_dropped_socket_full = 0;
  uint64_t tx_frames = 0, tx_bytes = 0;  // to the client
  uint64_t tx_dropped_unclaimed = 0;     // there is no client
  uint64_t tx_dropped_too_long = 0;
  uint64_t tx_dropped_refused = 0;  // the kernel did not take it: no route, no buffer

  uint64_t Lost() const {
    return rx_dropped_socket_full + rx_dropped_overload + rx_dropped_spoofed +
           rx_dropped_malformed + rx_dropped_too_long + tx_dropped_unclaimed + tx_dropped_too_long +
           tx_dropped_refused;
  }
};

struct HubCounters : DatagramCounters {
  uint64_t dropped_socket_full = 0;  // beyond all shares, or of nobody knows whom
  uint64_t dropped_spoofed = 0;      // the same of those that came outside of the encryption
};

// One thread, and those that read for it (Options::readers). Frames from clients are read in the
// order of their arrival and wait in a FairQueue; frames to clients leave with Flush().
class Hub {
 public:
  struct Options {
    std::string address = {};          // its own; empty: every address of the machine
    uint16_t port = wire::kVxlanPort;  // its own, and that of clients which do not say otherwise
    size_t waiting_frames = 4096;      // from clients, all together
    // Threads that read, each from a socket of its own; 0: Read() does that. Their order of arrival
    // is that of each client's frames, and among clients but for a burst.
    size_t readers = 0;
    // Of a network that only clients' encrypted tunnels lead to (Underlay::Options): their frames
    // come and go there, and what comes to the port above is dropped and counted. -1: there is
    // none. It is one socket, for one reader at most.
    int inner_socket = -1;
    // Clients share each socket's buffer by a program in the kernel, where that is possible.
    bool shares = true;
  };
  using Arrival = Intake::Arrival;

  // Throws UsageError if a VNI is given twice or the port cannot be had. The inner socket becomes
  // the hub's.
  Hub(std::vector<RemoteNode> nodes, const Options& options);

  const std::vector<RemoteNode>& nodes() const { return intake_.nodes(); }
  // The socket that sends; the others have its port and sizes.
  const Underlay& underlay() const { return *sockets_.front(); }
  // Where clients are to send to, or, with an inner socket, must not.
  uint16_t port() const { return outside_ ? outside_->port() : underlay().port(); }
  // Why clients do not share the sockets' buffers; empty: they do.
  const std::string& why_unshared() const { return why_unshared_; }
  size_t queue() const { return intake_.queue(); }  // frames that may wait
  size_t readers() const { return readers_ ? sockets_.size() : 0; }
  // Datagrams that were read.
  uint64_t datagrams() const { return intake_.counters().datagrams; }
  // Readable when Read() is to be called.
  int fd() const { return readers_ ? readers_->fd() : underlay().fd(); }

  // All that it has open.
  std::vector<int> Descriptors() const;

  // Reads a burst of datagrams, unless threads do. Returns whether there may be more. The first
  // call starts the threads: in a process that does not fork any more.
  bool Read();
  // The next frame from a client; `now`: CLOCK_REALTIME.
  std::optional<Arrival> Take(Instant now) { return intake_.Take(now); }
  bool HasWaiting() const { return intake_.HasWaiting(); }
  // More wait than are taken in order of arrival: clients take turns.
  bool IsOverloaded() const { return intake_.IsOverloaded(); }
  // To the node's client.
  void Send(size_t node, std::span<const std::byte> frame);
  // The same for a frame that the caller writes into the memory returned, before the next call;
  // empty if it is dropped, and counted.
  std::span<std::byte> Reserve(size_t node, size_t length);
  void Flush();
  // Reads and counts what has come outside of the encryption, of which counters know no sooner.
  void CountOutside();

  // From now on the node's frames come from and go to this host. A port of 0 is the hub's own.
  void Claim(size_t node, const wire::IpAddress& client, uint16_t port = 0);
  void Release(size_t node) { intake_.Release(node); }
  // Its client, if it has one.
  std::optional<Peer> ClientOf(size_t node) const { return intake_.ClientOf(node); }

  // What the kernel refused is in them, too.
  ClientCounters CountersOf(size_t node) const;
  size_t WaitingOf(size_t node) const { return intake_.WaitingOf(node); }
  HubCounters counters() const;

 private:
  void ShareSockets();

  std::vector<std::unique_ptr<Underlay>> sockets_;
  std::vector<SocketShares*> shares_;  // of sockets_, or none
  std::string why_unshared_ = "not asked for";
  std::optional<Underlay> outside_;  // beside an inner socket
  Intake intake_;
  io::SuperFrameSplitter splitter_;
  std::vector<ClientCounters> sent_;  // by node: what concerns frames to clients
  std::optional<Readers> readers_;
};

}  // namespace viaduct::tunnel
