#include "path/live/interfaces.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "port/xdp/open.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/offload.h"

namespace viaduct::path {
namespace {

constexpr auto kOffloads = sys::Offloads::kSegmentation;

// Returns the ifindex of an Ethernet interface; throws UsageError unless it exists and is up.
int Examine(const std::string& name) {
  sys::Netlink session;
  const auto link = session.FindLink(name);
  if (!link) {
    throw UsageError(fmt::format(
        "there is no interface {} in this network namespace; ip link lists the existing interfaces",
        name));
  }
  if (!link->up) {
    throw UsageError(fmt::format(
        "interface {} is down; enable the interface with: ip link set dev {} up", name, name));
  }
  if (!link->ethernet) {
    throw UsageError(
        fmt::format("interface {} does not carry Ethernet frames (it may be a TUN device or an IP "
                    "tunnel); use an Ethernet interface",
                    name));
  }
  return link->ifindex;
}

// Adds to `taken` the offloads that a killed path has left switched off, because they were on
// before that path took the interface.
void AddOffloadsOfDead(const PathInfo& path, TakenInterface* taken) {
  for (const PathInfo& other : OtherTakers(path, *taken)) {
    if (other.alive) {
      throw UsageError(
          fmt::format("interface {} is already used by another emulator (path {}, process {}); end "
                      "that path first, or add a pair to that path",
                      taken->interface, other.name, other.pid));
    }
    for (const TakenInterface& before : other.taken) {
      if (!IsSame(path, *taken, other, before)) continue;
      taken->offloads.insert(taken->offloads.end(), before.offloads.begin(), before.offloads.end());
    }
  }
}

bool Has(const PathInfo& path, const TakenInterface& taken) {
  return std::ranges::any_of(path.taken,
                             [&](const auto& each) { return IsSame(path, taken, path, each); });
}

// Adds an interface, with the offloads that were on, to the record and to the path. The path must
// not have the interface already.
void Take(TakenInterface taken, PathInfo* path, sys::OwnEntry* record) {
  AddOffloadsOfDead(*path, &taken);
  record->Write(taken);
  path->taken.push_back(std::move(taken));
}

}  // namespace

void TakeTap(const std::string& name, bool made, PathInfo* path, sys::OwnEntry* record,
             const sys::MachineLock&) {
  TakenInterface taken{name, Examine(name), {}};
  taken.tap = true;
  taken.made = made;
  if (!Has(*path, taken)) Take(std::move(taken), path, record);
}

void TakeInterface(const std::string& name, PathInfo* path, sys::OwnEntry* record,
                   const sys::MachineLock&) {
  const UniqueFd here = sys::OpenCurrentNamespace();
  TakenInterface taken{name, Examine(name), {}};
  if (!Has(*path, taken)) {
    taken.offloads = sys::ActiveOffloads(here.get(), name, kOffloads);
    Take(std::move(taken), path, record);
  }
  sys::DisableOffloads(here.get(), name, kOffloads);
}

void TakeForXdp(const std::string& name, const std::string& kind, PathInfo* path,
                sys::OwnEntry* record, const sys::MachineLock&) {
  for (const xdp::NeededOff& needed : xdp::OffloadsInTheWay(name, kind)) {
    TakenInterface taken{needed.interface, needed.ifindex, xdp::Active(needed),
                         sys::IdentifyNamespace(needed.network.get())};
    if (!taken.offloads.empty()) Take(std::move(taken), path, record);
    xdp::SwitchOff(needed);
  }
}

}  // namespace viaduct::path
