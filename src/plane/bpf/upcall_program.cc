#include "plane/bpf/upcall_program.h"

#include <utility>

#include "plane/bpf/program.h"
#include "plane/bpf/upcall.h"
#include "sys/bpf/object.h"
#include "sys/network/netns.h"

namespace viaduct::bpf {
namespace {

constexpr size_t kMaxFlows = 65536;
constexpr Object::Purpose kPurpose{
    "a protocol that finds routes on demand needs eBPF in mode offload", "use mode emulate"};

viaduct_upcall_settings SettingsOf(const UpcallOptions& options) {
  viaduct_upcall_settings settings{};
  settings.interval = static_cast<uint64_t>(options.interval.nanoseconds());
  settings.tun_ifindex = static_cast<uint32_t>(options.tun_ifindex);
  settings.copies_ipv4 = options.families.contains(wire::Family::kIpv4) ? 1 : 0;
  settings.copies_ipv6 = options.families.contains(wire::Family::kIpv6) ? 1 : 0;
  return settings;
}

}  // namespace

std::vector<UniqueFd> AttachUpcalls(int namespace_fd, const UpcallOptions& options) {
  const viaduct_upcall_settings settings = SettingsOf(options);
  const Object object(kUpcallProgram, "viaduct_upcall_mark",
                      {{"upcall_flows4", settings.copies_ipv4 != 0 ? kMaxFlows : 1},
                       {"upcall_flows6", settings.copies_ipv6 != 0 ? kMaxFlows : 1}},
                      std::as_bytes(std::span(&settings, 1)), kPurpose);
  const sys::NamespaceScope scope(namespace_fd);  // an ifindex is valid in one namespace only
  object.AttachToClsact("viaduct_upcall_mark", options.tun_ifindex, Object::Side::kEgress);
  std::vector<UniqueFd> links;
  for (const int ifindex : options.ifindexes) {
    for (const auto& [program, side] : {std::pair("viaduct_upcall_in", Object::Side::kIngress),
                                        std::pair("viaduct_upcall_out", Object::Side::kEgress)}) {
      if (UniqueFd link = object.AttachFirst(program, ifindex, side)) {
        links.push_back(std::move(link));
      }
    }
  }
  return links;
}

}  // namespace viaduct::bpf
