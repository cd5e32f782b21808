#include "port/xdp/veth_peer.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_link.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "base/error.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/process/process.h"

namespace viaduct::xdp {
namespace {

constexpr int kUnknown = -1;  // NETNSA_NSID_NOT_ASSIGNED

struct Reference {
  bool is_veth = false;
  int ifindex = 0;
  // Id of the peer's namespace in this namespace; kUnknown: the same namespace.
  int network = kUnknown;
};

Reference PeerOf(sys::Netlink& session, const std::string& interface) {
  const auto link = session.FindLink(interface);
  if (!link) throw UsageError("there is no interface " + interface + "; see ip link");
  Reference peer;
  peer.is_veth = link->kind == "veth";
  ifinfomsg header{};
  header.ifi_index = link->ifindex;
  sys::NetlinkMessage message(RTM_GETLINK, 0);
  message.AppendHeader(header);
  session.socket().Query(message, "query interface " + interface, [&](const nlmsghdr* answer) {
    std::array<nlattr*, IFLA_MAX + 1> attributes{};
    nlmsg_parse(const_cast<nlmsghdr*>(answer), sizeof header, attributes.data(), IFLA_MAX, nullptr);
    if (attributes[IFLA_LINK] != nullptr) {
      peer.ifindex = static_cast<int>(nla_get_u32(attributes[IFLA_LINK]));
    }
    if (attributes[IFLA_LINK_NETNSID] != nullptr) {
      peer.network = static_cast<int>(nla_get_u32(attributes[IFLA_LINK_NETNSID]));
    }
  });
  return peer;
}

// Returns the id (nsid) by which the current namespace knows the namespace `network`, or kUnknown.
int NumberOf(sys::Netlink& session, int network) {
  int number = kUnknown;
  rtgenmsg header{};
  sys::NetlinkMessage message(RTM_GETNSID, 0);
  message.AppendHeader(header);
  message.PutU32(NETNSA_FD, static_cast<uint32_t>(network));
  try {
    session.socket().Query(message, "query the ID of a namespace", [&](const nlmsghdr* answer) {
      std::array<nlattr*, NETNSA_MAX + 1> attributes{};
      nlmsg_parse(const_cast<nlmsghdr*>(answer), sizeof header, attributes.data(), NETNSA_MAX,
                  nullptr);
      if (attributes[NETNSA_NSID] != nullptr) {
        number = static_cast<int>(nla_get_u32(attributes[NETNSA_NSID]));
      }
    });
  } catch (const SystemError&) {
    return kUnknown;  // the descriptor is not of a namespace
  }
  return number;
}

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> paths;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
  if (!open) return paths;
  while (const dirent* entry = readdir(open.get())) {
    if (entry->d_name[0] != '.') paths.push_back(fmt::format("{}/{}", folder, entry->d_name));
  }
  return paths;
}

bool LeadsToNetwork(const std::string& link) {
  std::array<char, 32> target{};
  const ssize_t length = readlink(link.c_str(), target.data(), target.size());
  return length > 0 &&
         std::string_view(target.data(), static_cast<size_t>(length)).starts_with("net:[");
}

// Returns the first network namespace that `is_wanted` accepts. Tries the namespaces of processes
// first, then named namespaces, then namespaces that only open descriptors keep.
UniqueFd FindAmongAll(const std::function<bool(int)>& is_wanted) {
  std::set<uint64_t> seen;
  const auto look = [&](const std::string& path) {
    UniqueFd network(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!network || !seen.insert(sys::NamespaceInode(network.get())).second) return UniqueFd();
    return is_wanted(network.get()) ? std::move(network) : UniqueFd();
  };
  const std::vector<int> processes = sys::AllProcesses();
  for (const int pid : processes) {
    if (UniqueFd found = look(fmt::format("/proc/{}/ns/net", pid))) return found;
  }
  for (const std::string& name : FilesIn(std::string(sys::kNamespaceDirectory))) {
    if (UniqueFd found = look(name)) return found;
  }
  for (const int pid : processes) {
    for (const std::string& descriptor : FilesIn(fmt::format("/proc/{}/fd", pid))) {
      if (!LeadsToNetwork(descriptor)) continue;
      if (UniqueFd found = look(descriptor)) return found;
    }
  }
  return {};
}

}  // namespace

std::optional<VethPeer> FindVethPeer(const std::string& interface) {
  sys::Netlink session;
  const Reference reference = PeerOf(session, interface);
  if (!reference.is_veth) return std::nullopt;
  VethPeer peer;
  peer.ifindex = reference.ifindex;
  peer.network =
      reference.network == kUnknown ? sys::OpenCurrentNamespace() : FindAmongAll([&](int network) {
        return NumberOf(session, network) == reference.network;
      });
  if (!peer.network) {
    throw EnvironmentError(
        fmt::format("interface {}: the other end of this veth pair is in a network namespace that "
                    "this process cannot find",
                    interface));
  }
  const auto link = sys::Netlink(peer.network.get()).FindLink(peer.ifindex);
  if (!link)
    throw Error(fmt::format("interface {}: the veth pair has just been deleted", interface));
  peer.name = link->name;
  return peer;
}

}  // namespace viaduct::xdp
