#include "emulate/interfaces.h"

#include <fmt/format.h>

#include "base/error.h"
#include "io/ring_port.h"
#include "sys/network/netns.h"
#include "sys/network/offload.h"
#include "sys/network/packet_socket.h"

namespace viaduct::emulate {

namespace {

// The ifindex of an interface that exists and is up. Throws UsageError otherwise.
int Examine(const std::string& name) {
  sys::Netlink session;
  const auto link = session.FindLink(name);
  if (!link) {
    throw UsageError(
        fmt::format("interface {}: does not exist in this network namespace; see ip link", name));
  }
  if (!link->up) {
    throw UsageError(fmt::format("interface {} is down; ip link set dev {} up", name, name));
  }
  return link->ifindex;
}

}  // namespace

TakenInterface::TakenInterface(const std::string& name, const std::string& holder)
    : name_(name),
      ifindex_(Examine(name)),
      lock_(name, holder),
      offloads_(sys::ActiveOffloads(sys::OpenCurrentNamespace().get(), name,
                                    sys::Offloads::kSegmentation)) {}

void TakenInterface::SwitchOffloadsOff() const {
  sys::DisableOffloads(sys::OpenCurrentNamespace().get(), name_, sys::Offloads::kSegmentation);
}

std::unique_ptr<io::AnyPort> TakenInterface::OpenPort() {
  sys::PacketSocket socket = sys::OpenPacketSocket(name_, true);
  ifindex_ = socket.ifindex;
  io::RingOptions options;
  options.ifindex = socket.ifindex;
  return io::Hold(io::RingPort(std::move(socket.fd), options));
}

void TakenInterface::GiveBack() {
  try {
    sys::EnableOffloads(sys::OpenCurrentNamespace().get(), name_, offloads_);
  } catch (const Error&) {
    // It has vanished, and its settings with it.
  }
  lock_.Remove();
}

}  // namespace viaduct::emulate
