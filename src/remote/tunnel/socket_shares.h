// Shares the receive buffer of a hub's UDP socket among its clients, before datagrams are read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "remote/tunnel/share_program.h"
#include "remote/tunnel/underlay.h"

namespace viaduct::tunnel {

// A client may have at most half of the free part of the buffer, and all datagrams that belong to
// no client have one common share (share.bpf.c). So a client that sends more than is read loses its
// own datagrams, and the losses are counted for this client. Take() and Settle() are for the thread
// that reads; any thread may call the other functions.
class SocketShares {
 public:
  struct Refused {
    uint64_t lost = 0;     // refused datagrams of the client
    uint64_t spoofed = 0;  // refused datagrams with the client's VNI, from other hosts
  };
  struct Foreign {
    uint64_t malformed = 0;  // refused datagrams that are not VXLAN
    uint64_t unknown_vni = 0;
  };

  // `room`: bytes of the socket's buffer. Throws as AttachShares().
  SocketShares(int socket, std::span<const uint32_t> vnis, size_t room);

  // `client`: the index of the client's VNI in the parameter `vnis` of the constructor.
  void SetClient(size_t client, const Peer& peer);
  void SetAnyone(size_t client) { SetState(client, VIADUCT_SHARE_ANYONE); }
  void SetUnclaimed(size_t client) { SetState(client, VIADUCT_SHARE_UNCLAIMED); }

  // Limits the number of the client's datagrams in the socket, in addition to its share of the
  // buffer; nothing: no limit. A message of several datagrams that begins within the limit is
  // accepted completely.
  void SetLimit(size_t client, std::optional<size_t> datagrams);

  // Frees the space of a message that was read.
  void Take(const Underlay::Message& message);
  // Whether the program's counts of queued datagrams may differ from the datagrams that will be
  // read: datagrams were lost after the program had accepted them, or their share changed. If the
  // result is true, Settle() must be called when all datagrams have been read.
  bool Differs() const { return differs_; }
  // Must be called after a burst. `overflowed`: the total number of messages for which the kernel
  // had no space although clients kept to their shares. `is_drained`: whether all messages have
  // been read.
  void Settle(uint32_t overflowed, bool is_drained);

  // Returns the number of messages that the program refused. The kernel counts them among the
  // messages for which it had no space.
  uint64_t RefusedMessages() const;
  Refused RefusedOf(size_t client) const;
  Foreign RefusedForeign() const;

 private:
  void SetState(size_t client, viaduct_share_state state);
  viaduct_share& At(size_t client) const;
  viaduct_share& ShareOf(const Underlay::Message& message) const;

  std::unordered_map<uint32_t, size_t> by_vni_;  // the index in shares_.all of each VNI
  Shares shares_;
  uint32_t overflowed_ = 0;
  std::atomic<bool> differs_ = true;  // some datagrams arrived before the program was attached
};

}  // namespace viaduct::tunnel
