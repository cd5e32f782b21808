// A kernel's TCP for tests, against a peer that a script simulates, packet by packet, and a trace
// of the exchange as text. The same script runs against a guest in virtual time and against the
// host's kernel.
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

// A node with the address 10.0.0.1/24 whose only neighbour, 10.0.0.2, is the script. IPv6 is
// disabled and the sizes of the socket buffers are fixed, so that both kernels work under the same
// conditions.
class TcpSubject : public SocketEvents {
 public:
  // Returns a subject with a guest of the newest image that was built. Throws EnvironmentError if
  // no image was built.
  static std::unique_ptr<TcpSubject> VirtualTime();
  // Returns a subject with the host's kernel: viaduct-guest in separate namespaces, and a TAP
  // device. Needs root.
  static std::unique_ptr<TcpSubject> Host();

  // A TCP segment that the script sends, from port 4000. Sequence numbers count from 0 on each
  // side.
  struct Segment {
    uint8_t flags = wire::tcp_flag::kAck;
    uint32_t sequence = 0;
    uint32_t acknowledgment = 0;
    size_t length = 0;
    uint16_t window = 0xffff;
    uint16_t to_port = 80;
  };
  void Say(const Segment& segment);
  // Lets time pass: virtual time of a guest, or wall time.
  virtual void Run(Duration duration) = 0;

  uint32_t Open(uint64_t credit = 1 << 20);
  void Listen(uint32_t socket, uint16_t port);
  void Connect(uint32_t socket, uint16_t port);
  void SendZeros(uint32_t socket, uint64_t count);
  void SetOption(uint32_t socket, int level, int name, int value);
  void Credit(uint32_t socket, uint64_t bytes);
  void Close(uint32_t socket);
  uint32_t accepted() const { return accepted_; }  // the last accepted socket; 0: none

  // Returns the trace since the previous call, with one line per segment or event, similar to
  // tcpdump's output: "< S. 0 ack 1".
  std::string TakeTrace();
  // Returns the window of the kernel's last segment, in bytes.
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
  // Creates the node, and configures it once its interface has been moved to it.
  void SetUpNode();
  // Adds a frame that the kernel sends to the trace.
  void Hear(std::span<const std::byte> frame);
  bool ready() const { return ready_; }  // whether the node is set up
  void Note(const std::string& line) { trace_ += line + "\n"; }

 private:
  uint32_t node_ = 0;
  bool ready_ = false;
  uint32_t accepted_ = 0;
  // The kernel's initial sequence number in the present connection.
  std::optional<uint32_t> kernel_isn_;
  uint16_t kernel_port_ = 0;  // the port from which the kernel connects
  uint16_t window_ = 0;
  std::string trace_;
};

}  // namespace viaduct::guest
