// Combines several ports to one interface into one port: the queues of a TAP device, or the sockets
// of a fanout group.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "port/port.h"

namespace viaduct::io {

// Receives from all combined ports, and sends through the first port. The frames of a flow keep
// their order if all of them arrive at one port, as the kernel ensures (tun_select_queue() in
// drivers/net/tun.c, fanout_demux_hash() in net/packet/af_packet.c); frames of different flows may
// change their order.
//
// The rules for threads are those of the combined ports.
class MergedPort final : public AnyPort {
 public:
  // `ports`: at least one port; each port must have a fd(). Throws SystemError.
  explicit MergedPort(std::vector<std::unique_ptr<AnyPort>> ports);

  // Receives a burst from one port only; the next call begins with the next port.
  size_t Receive(std::span<ReceivedFrame> frames) override;
  size_t Transmit(std::span<const FrameToSend> frames) override {
    return ports_[0]->Transmit(frames);
  }
  std::span<const uint32_t> Refused() const override { return ports_[0]->Refused(); }
  size_t BytesInFlight() override { return ports_[0]->BytesInFlight(); }
  int TransmitFd() override { return ports_[0]->TransmitFd(); }
  int fd() override { return any_.get(); }
  PortCounters Counters() override;
  uint32_t Mtu() const override { return ports_[0]->Mtu(); }
  bool Up() override { return ports_[0]->Up(); }
  std::string Description() const override;

  const std::vector<std::unique_ptr<AnyPort>>& ports() const { return ports_; }

 private:
  std::vector<std::unique_ptr<AnyPort>> ports_;
  UniqueFd any_;  // readable (epoll) when one of the ports is readable
  size_t next_ = 0;
};

}  // namespace viaduct::io
