#include "sys/network/features.h"

#include <linux/bpf.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <net/ethernet.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>

#include "base/error.h"
#include "base/fd.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/qdisc.h"
#include "sys/network/tun.h"

namespace viaduct::sys {
namespace {

// A function that tests one feature in a scratch namespace; it returns 0 or the errno of its
// failure.
using Probe = std::function<int()>;

// Tries to add a link of a kind, on top of one end of a veth pair if `lower` is set.
int TryLink(const std::string& kind, bool lower,
            const std::function<void(NetlinkMessage&)>& options = nullptr) {
  Netlink session;
  int lower_ifindex = 0;
  if (lower) {
    session.CreateVethPair({-1, "probe0", std::nullopt}, {-1, "probe1", std::nullopt});
    lower_ifindex = session.IfIndex("probe0");
  }
  NetlinkMessage message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  message.AppendHeader(ifinfomsg{});
  message.Put(IFLA_IFNAME, "probe");
  if (lower) message.PutU32(IFLA_LINK, static_cast<uint32_t>(lower_ifindex));
  message.Nest(IFLA_LINKINFO, [&] {
    message.Put(IFLA_INFO_KIND, kind);
    if (options) message.Nest(IFLA_INFO_DATA, [&] { options(message); });
  });
  return session.socket().TryRequest(message);
}

int TryVlan() {
  return TryLink("vlan", true, [](NetlinkMessage& m) { m.PutU16(IFLA_VLAN_ID, 5); });
}

int TryVxlan() {
  return TryLink("vxlan", false, [](NetlinkMessage& m) { m.PutU32(IFLA_VXLAN_ID, 5); });
}

int TryTun() {
  try {
    CreateTun(OpenCurrentNamespace().get(), "probe");
    return 0;
  } catch (const SystemError& error) {
    return error.error_number();
  } catch (const EnvironmentError&) {
    return ENOENT;
  }
}

int TryPacketRing() {
  const UniqueFd fd(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  if (!fd) return errno;
  const int version = TPACKET_V2;
  if (setsockopt(fd.get(), SOL_PACKET, PACKET_VERSION, &version, sizeof version) < 0) return errno;
  tpacket_req ring{4096, 1, 2048, 2};
  return setsockopt(fd.get(), SOL_PACKET, PACKET_RX_RING, &ring, sizeof ring) < 0 ? errno : 0;
}

// Tries to load the eBPF program "return 0".
int TryBpf() {
  const std::array<bpf_insn, 2> program = {
      {{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0}, {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}}};
  bpf_attr attributes{};
  attributes.prog_type = BPF_PROG_TYPE_SCHED_CLS;
  attributes.insns = reinterpret_cast<uint64_t>(program.data());
  attributes.insn_cnt = program.size();
  attributes.license = reinterpret_cast<uint64_t>("GPL");
  const UniqueFd fd(
      static_cast<int>(syscall(SYS_bpf, BPF_PROG_LOAD, &attributes, sizeof attributes)));
  return fd ? 0 : errno;
}

int TryPath(const char* path) { return access(path, F_OK) == 0 ? 0 : ENOENT; }

Probe Qdisc(const std::string& kind) {
  return [kind] { return TryQdisc(kind); };
}

Feature Run(Feature feature, const Probe& probe) {
  int error_number = 0;
  try {
    InScratchNamespace([&] { error_number = probe(); });
  } catch (const SystemError& error) {
    error_number = error.error_number();
    feature.detail = error.what();
  } catch (const Error& error) {
    error_number = EIO;
    feature.detail = error.what();
  }
  if (error_number == 0) {
    feature.state = Feature::State::kPresent;
    feature.remedy.clear();
    return feature;
  }
  // Sets kUnknown if the privilege is missing, because the failure then shows nothing about the
  // kernel.
  const bool unprivileged = error_number == EPERM || error_number == EACCES;
  feature.state = unprivileged ? Feature::State::kUnknown : Feature::State::kAbsent;
  if (unprivileged) feature.remedy = "run as root to find out";
  if (feature.detail.empty()) feature.detail = std::strerror(error_number);
  return feature;
}

Feature Kernel(const char* name, const char* purpose, const char* option) {
  return {name, Feature::State::kUnknown, purpose,
          std::string("use a kernel with CONFIG_") + option + " (or its module)", ""};
}

}  // namespace

std::vector<Feature> ProbeFeatures() {
  const std::vector<std::pair<Feature, Probe>> probes = {
      {Kernel("namespaces", "every lab: a network namespace for each node", "NET_NS"),
       [] { return 0; }},
      {Kernel("veth", "every lab: links between nodes", "VETH"),
       [] { return TryLink("veth", false); }},
      {Kernel("bridge", "shared channels", "BRIDGE"), [] { return TryLink("bridge", false); }},
      {Kernel("tun", "programs on a node whose data plane is the simulator; path --port tap",
              "TUN"),
       TryTun},
      {Kernel("packet-ring", "frames to and from the simulator (AF_PACKET)", "PACKET"),
       TryPacketRing},
      {Kernel("ipv6", "labs with IPv6 addresses", "IPV6"),
       [] { return TryPath("/proc/net/if_inet6"); }},
      {Kernel("tbf", "rate= and queue= of links with emulator: kernel", "NET_SCH_TBF"),
       Qdisc("tbf")},
      {Kernel("netem", "delay=, jitter=, loss=, dup= and reorder= of links with emulator: kernel",
              "NET_SCH_NETEM"),
       Qdisc("netem")},
      {Kernel("fq_codel", "aqm=fq_codel of links with emulator: kernel", "NET_SCH_FQ_CODEL"),
       Qdisc("fq_codel")},
      {Kernel("codel", "aqm=codel of links with emulator: kernel", "NET_SCH_CODEL"),
       Qdisc("codel")},
      {Kernel("pie", "aqm=pie of links with emulator: kernel", "NET_SCH_PIE"), Qdisc("pie")},
      {Kernel("fq", "paced senders (TCP BBR, SO_TXTIME)", "NET_SCH_FQ"), Qdisc("fq")},
      {Kernel("htb", "rates shared by classes of packets", "NET_SCH_HTB"), Qdisc("htb")},
      {Kernel("clsact", "eBPF programs on interfaces", "NET_SCH_INGRESS"), Qdisc("clsact")},
      {Kernel("bpf", "data planes in eBPF", "BPF_SYSCALL"), TryBpf},
      {Kernel("macvlan", "several nodes on one physical interface", "MACVLAN"),
       [] { return TryLink("macvlan", true); }},
      {Kernel("vlan", "nodes on VLAN-tagged physical links", "VLAN_8021Q"), TryVlan},
      {Kernel("vxlan", "links between machines", "VXLAN"), TryVxlan},
      {Kernel("wireguard", "viaduct hub --encrypt wireguard, and its clients", "WIREGUARD"),
       [] { return TryLink("wireguard", false); }},
      {Kernel("mpls", "protocols that use label switching", "MPLS_ROUTING"),
       [] { return TryPath("/proc/sys/net/mpls"); }},
  };
  std::vector<Feature> features;
  features.reserve(probes.size());
  for (const auto& [feature, probe] : probes) features.push_back(Run(feature, probe));
  return features;
}

}  // namespace viaduct::sys
