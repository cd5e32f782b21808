// A port for the IP packets of a client that is connected by an Ethernet wire. The port behaves as
// if the client's programs were behind a TUN device.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "port/port.h"
#include "remote/tunnel/client_wire.h"

namespace viaduct::tunnel {

class ClientPort final : public io::AnyPort {
 public:
  // `frames`: the port that sends and receives the client's frames; not null. `own`: the node's
  // addresses.
  ClientPort(std::unique_ptr<io::AnyPort> frames, std::vector<wire::IpAddress> own);

  size_t Receive(std::span<io::ReceivedFrame> packets) override;
  size_t Transmit(std::span<const io::FrameToSend> packets) override;
  size_t BytesInFlight() override { return frames_->BytesInFlight() + waiting_.size(); }
  int TransmitFd() override { return frames_->TransmitFd(); }
  int fd() override { return frames_->fd(); }
  // Returns counters of frames, including the frames that this end sends itself. tx_dropped_error
  // includes packets for a client whose MAC address is not known.
  io::PortCounters Counters() override;
  uint32_t Mtu() const override { return frames_->Mtu(); }
  bool Up() override { return frames_->Up(); }
  std::string Description() const override { return frames_->Description(); }

 private:
  void Queue(wire::ConstBytes frame);
  // Sends the waiting frames. Returns whether the port for frames has taken all waiting frames.
  bool Flush();

  std::unique_ptr<io::AnyPort> frames_;
  ClientWire wire_;
  std::vector<std::byte> waiting_;  // frames that the port has not taken yet, one after the other
  std::vector<size_t> sizes_;       // bytes of each frame
};

}  // namespace viaduct::tunnel
