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

// Sends and receives messages as frames on an interface of the namespace in which the object is
// created. The constructor sets the interface up, with the given MTU and without addresses.
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

// Sends and receives messages as packets of a SOCK_SEQPACKET socket; the transport ends when the
// peer closes the socket.
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
