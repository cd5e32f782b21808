#include "emulate/interfaces.h"

#include <fmt/format.h>

#include "base/error.h"
#include "sys/network/netns.h"
#include "sys/network/offload.h"

namespace viaduct::emulate {

namespace {

// Throws UsageError unless the interface exists and is up.
const std::string& Examine(const std::string& name) {
  sys::Netlink session;
  const auto link = session.FindLink(name);
  if (!link) {
    throw UsageError(
        fmt::format("interface {}: does not exist in this network namespace; see ip link", name));
  }
  if (!link->up) {
    throw UsageError(fmt::format("interface {} is down; ip link set dev {} up", name, name));
  }
  return name;
}

}  // namespace

TakenInterface::TakenInterface(const std::string& name, const std::string& holder)
    : name_(Examine(name)),
      lock_(name, holder),
      offloads_(sys::ActiveOffloads(sys::OpenCurrentNamespace().get(), name,
                                    sys::Offloads::kSegmentation)) {}

void TakenInterface::SwitchOffloadsOff() const {
  sys::DisableOffloads(sys::OpenCurrentNamespace().get(), name_, sys::Offloads::kSegmentation);
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
