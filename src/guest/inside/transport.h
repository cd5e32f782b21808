// The transports of the agent's messages: frames on the control interface, or a socket (in tests).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "guest/agent/agent_frames.h"
#include "guest/service/transport.h"

namespace viaduct::guest::inside {

// Messages as frames on an interface of the namespace in which the object is created. Sets the
// interface up, with this MTU and without addresses.
class FrameTransport : public service::Transport {
 public:
  FrameTransport(const std::string& interface, size_t mtu);
  int fd() const override { return socket_.get(); }
  void Send(std::span<const std::byte> message) override;
  bool Receive(const Receiver& each) override;

 private:
  UniqueFd socket_;
  size_t frame_size_;
  std::vector<std::byte> frames_;
  agent::FrameSplitter splitter_;
  agent::FrameAssembler assembler_;
};

// Messages as packets of a SOCK_SEQPACKET socket; ends when the peer closes.
class SocketTransport : public service::Transport {
 public:
  explicit SocketTransport(UniqueFd socket);
  int fd() const override { return socket_.get(); }
  void Send(std::span<const std::byte> message) override;
  bool Receive(const Receiver& each) override;

 private:
  UniqueFd socket_;
  std::vector<std::byte> message_;
};

}  // namespace viaduct::guest::inside
