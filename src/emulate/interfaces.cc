#include "emulate/interfaces.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/offload.h"

namespace viaduct::emulate {
namespace {

constexpr auto kOffloads = sys::Offloads::kSegmentation;

// The ifindex of an interface that exists and is up.
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

// What is off because a killed path left it so was on before that.
void AddOffloadsOfDead(const PathInfo& path, TakenInterface* taken) {
  for (const PathInfo& other : OtherTakers(path, taken->ifindex)) {
    if (other.alive) {
      throw UsageError(fmt::format(
          "interface {}: another emulator uses it (path {}, process {}); end that first, or add a "
          "pair to it",
          taken->interface, other.name, other.pid));
    }
    for (const TakenInterface& before : other.taken) {
      if (before.ifindex != taken->ifindex) continue;
      taken->offloads.insert(taken->offloads.end(), before.offloads.begin(), before.offloads.end());
    }
  }
}

}  // namespace

void TakeInterface(const std::string& name, PathInfo* path, sys::OwnEntry* record, const Turn&) {
  const UniqueFd here = sys::OpenCurrentNamespace();
  TakenInterface taken{name, Examine(name), {}};
  if (std::ranges::find(path->taken, taken.ifindex, &TakenInterface::ifindex) ==
      path->taken.end()) {
    taken.offloads = sys::ActiveOffloads(here.get(), name, kOffloads);
    AddOffloadsOfDead(*path, &taken);
    record->Write(taken);
    path->taken.push_back(std::move(taken));
  }
  sys::DisableOffloads(here.get(), name, kOffloads);
}

}  // namespace viaduct::emulate
