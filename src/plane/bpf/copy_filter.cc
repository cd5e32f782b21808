#include "plane/bpf/copy_filter.h"

#include <net/if.h>

#include <cstring>
#include <map>
#include <utility>

#include "base/error.h"
#include "plane/bpf/copy.h"
#include "plane/bpf/program.h"
#include "sys/network/netns.h"

namespace viaduct::bpf {
namespace {

constexpr Object::Purpose kOfCopies{
    "eBPF filter for data plane userspace",
    "without this filter, the kernel of a node receives a copy of every packet and drops the copy"};

template <class Key>
Key NetworkKey(const wire::IpPrefix& network) {
  Key key{};
  key.length = static_cast<uint32_t>(network.length);
  std::memcpy(key.address, network.address.bytes.data(), sizeof key.address);
  return key;
}

// Calls `use` with the network as a key of the program's map for its family.
template <class Use>
auto WithKey(const wire::IpPrefix& network, const Use& use) {
  if (network.address.family == wire::Family::kIpv4) {
    return use(NetworkKey<viaduct_copy_network4>(network));
  }
  return use(NetworkKey<viaduct_copy_network6>(network));
}

Object LoadCopyProgram(size_t max_networks) {
  return {kCopyProgram,
          "viaduct_copy",
          {{"copy_networks4", max_networks}, {"copy_networks6", max_networks}},
          {},
          kOfCopies};
}

}  // namespace

struct CopyFilter::State {
  explicit State(size_t max_networks)
      : object(LoadCopyProgram(max_networks)),
        networks4(object.Map("copy_networks4")),
        networks6(object.Map("copy_networks6")),
        variables(object.Map(".bss")) {}

  Map NetworksOf(wire::Family family) const {
    return family == wire::Family::kIpv4 ? networks4 : networks6;
  }

  Object object;
  Map networks4, networks6, variables;
  std::map<int, UniqueFd> links;  // the program's attachments, keyed by ifindex
};

std::string CopyFilterUnavailable() {
  try {
    sys::InScratchNamespace([] {
      constexpr int kLoopback = 1;
      const UniqueFd link = LoadCopyProgram(1).AttachWhileOpen(kLoopback);
    });
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

CopyFilter::CopyFilter(size_t max_networks) : state_(std::make_unique<State>(max_networks)) {}

CopyFilter::~CopyFilter() = default;

bool CopyFilter::Set(const wire::IpPrefix& network, Taker taker) {
  const uint8_t value = taker == Taker::kKernel ? VIADUCT_COPY_KERNEL : VIADUCT_COPY_FORWARDER;
  const Map map = state_->NetworksOf(network.address.family);
  return WithKey(network, [&](const auto& key) { return map.TrySet(key, value); });
}

void CopyFilter::Remove(const wire::IpPrefix& network) {
  const Map map = state_->NetworksOf(network.address.family);
  WithKey(network, [&](const auto& key) { map.Remove(key); });
}

void CopyFilter::Discard(const std::set<wire::Family>& families) {
  const uint32_t only = 0;
  const uint32_t value = (families.contains(wire::Family::kIpv4) ? VIADUCT_COPY_IPV4 : 0) |
                         (families.contains(wire::Family::kIpv6) ? VIADUCT_COPY_IPV6 : 0);
  state_->variables.Set(only, value, "set the address families that the eBPF filter discards");
}

void CopyFilter::AttachTo(int namespace_fd, const std::set<int>& ifindexes) {
  std::erase_if(state_->links, [&](const auto& link) { return !ifindexes.contains(link.first); });
  const sys::NamespaceScope scope(namespace_fd);
  for (const int ifindex : ifindexes) {
    if (state_->links.contains(ifindex)) continue;
    try {
      state_->links[ifindex] = state_->object.AttachWhileOpen(ifindex);
    } catch (const EnvironmentError&) {
      state_->links.erase(ifindex);
    }
  }
}

Verdict CopyFilter::Try(int ifindex, wire::ConstBytes frame) const {
  return state_->object.Try(ifindex, frame);
}

}  // namespace viaduct::bpf
