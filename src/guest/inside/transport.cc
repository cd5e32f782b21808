#include "guest/inside/transport.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/error.h"
#include "guest/agent/agent_protocol.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/offload.h"
#include "sys/network/sysctl.h"

namespace viaduct::guest::inside {
namespace {

// The maximum number of frames read with one system call.
constexpr size_t kBurst = 16;
// The size of the receive buffer in bytes. The buffer must hold all frames that can arrive in one
// instant, because a lost frame ends the simulation.
constexpr int kReceiveBuffer = 64 << 20;

int SetUpInterface(const std::string& name, size_t mtu) {
  sys::Netlink netlink;
  const sys::LinkInfo link = netlink.GetLink(name);
  // Disables IPv6 on the control interface, where it would only cost time.
  const UniqueFd here = sys::OpenCurrentNamespace();
  sys::WriteSysctls(here.get(), {{"net/ipv6/conf/" + name + "/disable_ipv6", "1"}}, true);
  netlink.SetArp(link.ifindex, false);
  // Disables transmit interrupts, which would take half of the processor time of a reply.
  sys::DisableTransmitInterrupts(here.get(), name);
  if (static_cast<size_t>(link.mtu) != mtu) netlink.SetMtu(link.ifindex, static_cast<int>(mtu));
  netlink.SetUp(link.ifindex, true);
  return link.ifindex;
}

}  // namespace

FrameTransport::FrameTransport(const std::string& interface, size_t mtu)
    : frame_size_(agent::kEthernetHeader + mtu), frames_(kBurst * frame_size_), splitter_(mtu) {
  const int ifindex = SetUpInterface(interface, mtu);
  socket_ = UniqueFd(
      SystemCall("open the control socket", socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)));
  SystemCall("set the buffer size of the control socket",
             setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBuffer,
                        sizeof kReceiveBuffer));
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(agent::kEtherType);
  address.sll_ifindex = ifindex;
  SystemCall("bind the control socket to " + interface,
             bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
}

void FrameTransport::Send(std::span<const std::byte> message) {
  splitter_.Split(message, [&](std::span<const std::byte> frame) {
    SystemCall("send on the control interface", send(socket_.get(), frame.data(), frame.size(), 0));
  });
}

bool FrameTransport::Receive(const Receiver& each) {
  std::array<iovec, kBurst> vectors;
  std::array<mmsghdr, kBurst> headers{};
  for (size_t i = 0; i < kBurst; ++i) {
    vectors[i] = {frames_.data() + i * frame_size_, frame_size_};
    headers[i].msg_hdr.msg_iov = &vectors[i];
    headers[i].msg_hdr.msg_iovlen = 1;
  }
  // Receives the frames that are in the socket. The call never fails while the socket is readable;
  // a failing system call would cost virtual time.
  const int count =
      SystemCall("receive on the control interface",
                 recvmmsg(socket_.get(), headers.data(), kBurst, MSG_WAITFORONE, nullptr));
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const std::span frame(frames_.data() + i * frame_size_, headers[i].msg_len);
    if (const auto message = assembler_.Add(frame)) each(*message);
  }
  return true;
}

SocketTransport::SocketTransport(UniqueFd socket)
    : socket_(std::move(socket)), message_(agent::kMaxMessage) {}

void SocketTransport::Send(std::span<const std::byte> message) {
  const ssize_t sent = send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL);
  // EPIPE means that the peer has closed the socket, which Receive() reports.
  if (sent < 0 && errno == EPIPE) return;
  SystemCall("answer the simulator", sent);
}

bool SocketTransport::Receive(const Receiver& each) {
  const ssize_t received = recv(socket_.get(), message_.data(), message_.size(), 0);
  if (received == 0 || (received < 0 && errno == ECONNRESET)) return false;
  SystemCall("receive from the simulator", received);
  each(std::span(message_).first(static_cast<size_t>(received)));
  return true;
}

}  // namespace viaduct::guest::inside
