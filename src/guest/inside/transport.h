// The transport of the agent's messages: frames on the control interface, or a socket (in tests).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "guest/agent/agent_frames.h"

namespace viaduct::guest::inside {

class Transport {
 public:
  using Receiver = std::function<void(std::span<const std::byte>)>;
  virtual ~Transport() = default;
  // A descriptor that is readable when Receive() has something.
  virtual int Fd() const = 0;
  virtual void Send(std::span<const std::byte> message) = 0;
  // Calls `each` for the messages that have arrived, which are valid during the call. Returns false
  // when there will be no more.
  virtual bool Receive(const Receiver& each) = 0;
};

// Messages as frames on an interface of the namespace it is created in. It sets the interface up,
// with this MTU and without addresses.
class FrameTransport : public Transport {
 public:
  FrameTransport(const std::string& interface, size_t mtu);
  int Fd() const override { return socket_.get(); }
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
class SocketTransport : public Transport {
 public:
  explicit SocketTransport(UniqueFd socket);
  int Fd() const override { return socket_.get(); }
  void Send(std::span<const std::byte> message) override;
  bool Receive(const Receiver& each) override;

 private:
  UniqueFd socket_;
  std::vector<std::byte> message_;
};

}  // namespace viaduct::guest::inside
