// A port of the path engine that combines the clients of a hub.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "port/port.h"
#include "remote/tunnel/client_hub.h"

namespace viaduct::tunnel {

// A hub that one thread serves and that other threads may query.
class SharedHub {
 public:
  // Throws as ClientHub does.
  SharedHub(std::vector<RemoteNode> nodes, const ClientHub::Options& options)
      : hub_(std::move(nodes), options), fd_(hub_.fd()) {}

  int fd() const { return fd_; }
  // Calls use(ClientHub&) while no other thread uses the hub. Any thread may call this function.
  // The frames of clients wait until `use` returns.
  template <class Use>
  auto With(Use&& use) {
    const MutexLock lock(mutex_);
    return use(hub_);
  }

 private:
  Mutex mutex_;
  ClientHub hub_ VIADUCT_GUARDED_BY(mutex_);
  const int fd_;
};

// Between this port and its caller, the frames of the i-th node carry the VLAN tag ChannelOf(i);
// the caller must add the tag to the frames that it sends. Tags of clients are inside of this tag.
// Frames arrive in the order and by the shares of the hub. The lock of the hub is taken once per
// burst.
class TrunkPort final : public io::AnyPort {
 public:
  // The maximum number of nodes of a hub, and the VLAN ID of each node.
  static constexpr size_t kMaxNodes = 4094;
  static uint16_t ChannelOf(size_t node) { return static_cast<uint16_t>(node + 1); }

  explicit TrunkPort(std::shared_ptr<SharedHub> hub);

  size_t Receive(std::span<io::ReceivedFrame> frames) override;
  size_t Transmit(std::span<const io::FrameToSend> frames) override;
  // Returns the indexes of the frames that the last Transmit() refused: frames whose node has no
  // client, and frames that are too long for their node.
  std::span<const uint32_t> Refused() const override { return refused_; }
  int fd() override { return hub_->fd(); }
  // May be called by any thread. rx_dropped_ring_full counts the frames that the hub itself lost
  // (overload, the socket's buffer).
  io::PortCounters Counters() override;
  uint32_t Mtu() const override { return mtu_; }

 private:
  static constexpr size_t kBurst = 64;

  bool Send(ClientHub& hub, io::FrameToSend frame) const;

  std::shared_ptr<SharedHub> hub_;
  uint32_t mtu_;
  size_t room_;                          // bytes for each frame in memory_
  std::unique_ptr<std::byte[]> memory_;  // received frames, at most kBurst
  std::vector<uint32_t> refused_;
};

}  // namespace viaduct::tunnel
