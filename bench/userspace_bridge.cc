// Forwards every frame between two interfaces: the userspace forwarder of the benchmark `bridge`.
//
//   userspace-bridge ring|socket INTERFACE INTERFACE
//
// `socket`: one read and one write per frame, as in the forwarder of the thesis. `ring`: bursts
// through io::RingPort, which Viaduct's devices use. Runs until it is killed.
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/error.h"
#include "packet_socket.h"
#include "port/packet/ring_port.h"

namespace viaduct::bench {
namespace {

constexpr int kBurst = 64;

void WaitForEither(int a, int b) {
  std::array<pollfd, 2> fds = {{{a, POLLIN, 0}, {b, POLLIN, 0}}};
  poll(fds.data(), fds.size(), -1);
}

// Forwards one frame; returns false if no frame is waiting.
bool ForwardFrame(int from, int to) {
  std::array<std::byte, 65536> frame;
  sockaddr_storage source;
  socklen_t length = sizeof(source);
  const ssize_t n = recvfrom(from, frame.data(), frame.size(), MSG_DONTWAIT,
                             reinterpret_cast<sockaddr*>(&source), &length);
  if (n <= 0) return false;
  // A full queue drops the frame, as a bridge does.
  [[maybe_unused]] const ssize_t sent = send(to, frame.data(), n, 0);
  return true;
}

[[noreturn]] void RunSockets(const std::string& left, const std::string& right) {
  const UniqueFd a = OpenBoundPacketSocket(left), b = OpenBoundPacketSocket(right);
  while (true) {
    const bool forward = ForwardFrame(a.get(), b.get());
    const bool backward = ForwardFrame(b.get(), a.get());
    if (!forward && !backward) WaitForEither(a.get(), b.get());
  }
}

io::RingPort OpenRing(const std::string& interface) {
  return io::RingPort(OpenPacketSocket(), {.ifindex = InterfaceIndex(interface)});
}

bool ForwardBurst(io::RingPort& from, io::RingPort& to) {
  std::array<io::ReceivedFrame, kBurst> received;
  std::array<io::FrameToSend, kBurst> frames;
  const size_t n = from.Receive(received);
  for (size_t i = 0; i < n; ++i) frames[i] = received[i].bytes;
  to.Transmit(std::span(frames).first(n));
  return n > 0;
}

[[noreturn]] void RunRings(const std::string& left, const std::string& right) {
  io::RingPort a = OpenRing(left), b = OpenRing(right);
  while (true) {
    const bool forward = ForwardBurst(a, b);
    const bool backward = ForwardBurst(b, a);
    if (!forward && !backward) WaitForEither(a.fd(), b.fd());
  }
}

int Main(int argc, char** argv) {
  const std::string_view how = argc == 4 ? argv[1] : "";
  if (how != "ring" && how != "socket") {
    std::fprintf(stderr, "usage: userspace-bridge ring|socket INTERFACE INTERFACE\n");
    return 2;
  }
  try {
    if (how == "ring") RunRings(argv[2], argv[3]);
    RunSockets(argv[2], argv[3]);
  } catch (const Error& error) {
    std::fprintf(stderr, "userspace-bridge: %s\n", error.what());
    return static_cast<int>(error.status());
  }
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) { return viaduct::bench::Main(argc, argv); }
