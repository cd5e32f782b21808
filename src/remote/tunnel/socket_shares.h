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

// A client may have at most half of the free part of the buffer, and datagrams of no client have
// one share together (share.bpf.c). So a client that sends more than is read loses its own
// datagrams, and they are counted as its own. Take() and Settle() are for the thread that reads;
// any thread may call the rest.
class SocketShares {
 public:
  struct Refused {
    uint64_t lost = 0;     // the client's datagrams
    uint64_t spoofed = 0;  // with its VNI, from other hosts
  };
  struct Foreign {
    uint64_t malformed = 0;  // not VXLAN
    uint64_t unknown_vni = 0;
  };

  // `room`: bytes of the socket's buffer. Throws as AttachShares().
  SocketShares(int socket, std::span<const uint32_t> vnis, size_t room);

  // `client`: an index in `vnis`.
  void SetClient(size_t client, const Peer& peer);
  void SetAnyone(size_t client) { SetState(client, VIADUCT_SHARE_ANYONE); }
  void SetUnclaimed(size_t client) { SetState(client, VIADUCT_SHARE_UNCLAIMED); }

  // Limits the number of the client's datagrams in the socket, in addition to its share of the
  // buffer; nothing: no limit. A message of several that begins within the limit is let in whole.
  void SetLimit(size_t client, std::optional<size_t> datagrams);

  // Frees the space of a message that was read.
  void Take(const Underlay::Message& message);
  // Whether the queued datagrams are not those that will be read: datagrams were lost after the
  // program, or changed owner. Then Settle() must be called when all were read.
  bool Differs() const { return differs_; }
  // Called after a burst. `overflowed`: the total of messages for which the kernel had no space in
  // spite of the shares. `is_drained`: all messages were read.
  void Settle(uint32_t overflowed, bool is_drained);

  // Returns the number of messages that were refused. The kernel counts them among those for which
  // it had no space.
  uint64_t RefusedMessages() const;
  Refused RefusedOf(size_t client) const;
  Foreign RefusedForeign() const;

 private:
  void SetState(size_t client, viaduct_share_state state);
  viaduct_share& At(size_t client) const;
  viaduct_share& ShareOf(const Underlay::Message& message) const;

  std::unordered_map<uint32_t, size_t> by_vni_;  // index in shares_.all
  Shares shares_;
  uint32_t overflowed_ = 0;
  std::atomic<bool> differs_ = true;  // some datagrams arrived before the program was attached
};

}  // namespace viaduct::tunnel
