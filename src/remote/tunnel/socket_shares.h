// Shares the receive buffer of a hub's UDP socket among its clients, before anything is read.
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

// A client may have at most half of what is free of the buffer, and datagrams that are no client's
// have one share together (share.bpf.c). So one that sends more than is read loses its own
// datagrams, and they are counted as its own. Take() and Settle() are for the thread that reads;
// any thread may call the rest.
class SocketShares {
 public:
  struct Refused {
    uint64_t lost = 0;     // the client's, datagrams
    uint64_t spoofed = 0;  // with its VNI, from other hosts
  };
  struct Strange {
    uint64_t malformed = 0;  // not VXLAN
    uint64_t unknown_vni = 0;
  };

  // `room`: bytes of the socket's buffer. Throws as AttachShares().
  SocketShares(int socket, std::span<const uint32_t> vnis, size_t room);

  // `client`: an index in `vnis`.
  void SetClient(size_t client, const Peer& peer);
  void SetAnyone(size_t client) { SetState(client, VIADUCT_SHARE_ANYONE); }
  void SetUnclaimed(size_t client) { SetState(client, VIADUCT_SHARE_UNCLAIMED); }

  // How many of its datagrams may be in the socket, beside its share of the buffer; nothing: any
  // number. A message of several that begins within the limit is let in whole.
  void SetLimit(size_t client, std::optional<size_t> datagrams);

  // A message was read, and no longer has room.
  void Take(const Underlay::Message& message);
  // What was queued is not what will be read: datagrams were lost after the program, or changed
  // owner. Then Settle() is to be called when all was read.
  bool Differs() const { return differs_; }
  // After a burst: `overflowed`, messages that the kernel had no room for in spite of the shares,
  // ever; `is_drained`, all was read.
  void Settle(uint32_t overflowed, bool is_drained);

  // Messages that were refused. The kernel counts them among those that it had no room for.
  uint64_t RefusedMessages() const;
  Refused RefusedOf(size_t client) const;
  Strange RefusedStrange() const;

 private:
  void SetState(size_t client, viaduct_share_state state);
  viaduct_share& At(size_t client) const;
  viaduct_share& ShareOf(const Underlay::Message& message) const;

  std::unordered_map<uint32_t, size_t> by_vni_;  // index in shares_.all
  Shares shares_;
  uint32_t overflowed_ = 0;
  std::atomic<bool> differs_ = true;  // some came before the program
};

}  // namespace viaduct::tunnel
