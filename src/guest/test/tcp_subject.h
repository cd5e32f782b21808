// For tests: a kernel's TCP against a peer that a script simulates, packet by packet, and a trace
// of the exchange as text. The same script runs against a guest in virtual time and against the
// host's own kernel.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/fd.h"
#include "base/time.h"
#include "base/wire/test/packet_builder.h"
#include "guest/agent/agent_client.h"

namespace viaduct::guest {

// One node with the address 10.0.0.1/24 whose only neighbour, 10.0.0.2, is the script. IPv6 is off
// and buffers are fixed, so that two kernels work under the same conditions.
class TcpSubject : public SocketEvents {
 public:
  // Returns a guest of the newest image that is built. Throws EnvironmentError if there is none.
  static std::unique_ptr<TcpSubject> VirtualTime();
  // Returns the host's kernel: viaduct-guest in separate namespaces, and a TAP device. Needs root.
  static std::unique_ptr<TcpSubject> Host();

  // A segment of the script; by default from port 4000 to port 80. Sequence numbers count from 0 on
  // each side.
  struct Segment {
    uint8_t flags = wire::tcp_flag::kAck;
    uint32_t sequence = 0;
    uint32_t acknowledgment = 0;
    size_t length = 0;
    uint16_t window = 0xffff;
    uint16_t to_port = 80;
  };
  void Say(const Segment& segment);
  // Lets time pass.
  virtual void Run(Duration duration) = 0;

  uint32_t Open(uint64_t credit = 1 << 20);
  void Listen(uint32_t socket, uint16_t port);
  void Connect(uint32_t socket, uint16_t port);
  void SendZeros(uint32_t socket, uint64_t count);
  void SetOption(uint32_t socket, int level, int name, int value);
  void Credit(uint32_t socket, uint64_t bytes);
  void Close(uint32_t socket);
  uint32_t accepted() const { return accepted_; }  // the last accepted socket; 0: none

  // Returns the trace since the last call, one line per segment or event: "< SA 0:0 1", similar to
  // tcpdump's.
  std::string TakeTrace();
  // The window of the kernel's last segment, bytes.
  uint16_t window() const { return window_; }

  void OnBound(const agent::Endpoint&) override {}
  void OnConnected(const agent::Endpoint&, const agent::Endpoint&) override { Note("connected"); }
  void OnAccepted(const agent::Accepted& accepted) override;
  void OnData(const Data& data) override { Note("read " + std::to_string(data.size)); }
  void OnWritten(uint64_t) override {}
  void OnEnd() override { Note("end"); }
  void OnBroken(int error_number) override;
  void OnFailed(agent::Code code, int error_number) override;
  void OnOption(const agent::SocketOption&, std::span<const std::byte>) override {}

 protected:
  virtual AgentClient& Agent() = 0;
  virtual void Inject(std::span<const std::byte> frame) = 0;
  // Configures the node once its interface exists.
  void SetUpNode();
  // Handles a frame that the kernel sends.
  void Hear(std::span<const std::byte> frame);
  bool ready() const { return ready_; }  // the node is set up
  void Note(const std::string& line) { trace_ += line + "\n"; }

 private:
  uint32_t node_ = 0;
  bool ready_ = false;
  uint32_t accepted_ = 0;
  std::optional<uint32_t> kernel_isn_;  // the initial sequence number in the current connection
  uint16_t kernel_port_ = 0;            // the port from which it connects
  uint16_t window_ = 0;
  std::string trace_;
};

}  // namespace viaduct::guest
