#include "path/shell/shell_network.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "path/shell/shell_addresses.h"
#include "path/shell/shell_outside.h"
#include "sys/machine/own_mounts.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/offload.h"
#include "sys/network/sysctl.h"

namespace viaduct::path {
namespace {

constexpr const char* kProgramPort = kShellPorts[0];
constexpr const char* kHostPort = kShellPorts[1];
constexpr char kInside[] = "eth0";
constexpr Duration kInterfaceTimeout = Duration::Seconds(5);

bool IsIpv4Loopback(const std::string& server) { return server.starts_with("127."); }
bool IsLoopback(const std::string& server) { return IsIpv4Loopback(server) || server == "::1"; }

// Returns the shell in whose namespace `here` this process runs, if any.
std::optional<ShellInside> OuterShell(const sys::NamespaceId& here) {
  for (const ShellInfo& shell : ListShells()) {
    if (shell.alive && shell.inside && shell.inside->network == here) return shell.inside;
  }
  return std::nullopt;
}

// Returns whether an interface of this namespace (`default`: a new interface) can have IPv6.
bool HasIpv6(const std::string& interface) {
  const std::string parameter = fmt::format("net/ipv6/conf/{}/disable_ipv6", interface);
  return access(sys::SysctlPath(parameter).c_str(), F_OK) == 0 &&
         sys::ReadSysctl(sys::OpenCurrentNamespace().get(), parameter) == "0";
}

// Sets the interface up without a link-local address, so that the kernel sends nothing from it.
void Raise(sys::Netlink& session, const std::string& name) {
  const int ifindex = session.IfIndex(name);
  session.SetIpv6LinkLocal(ifindex, false);
  session.SetUp(ifindex, true);
}

}  // namespace

std::vector<std::string> NameServers(const std::string& resolv_conf) {
  std::vector<std::string> servers;
  std::istringstream lines(resolv_conf);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key, server;
    if (words >> key >> server && key == "nameserver") servers.push_back(server);
  }
  return servers;
}

NameService FindNameService(const std::string& etc_resolv_conf,
                            const std::string& systemd_resolv_conf) {
  const auto servers = NameServers(etc_resolv_conf);
  const auto is_outside = [](const std::string& server) { return !IsLoopback(server); };
  NameService names;
  if (servers.empty() || std::any_of(servers.begin(), servers.end(), is_outside)) return names;
  const auto others = NameServers(systemd_resolv_conf);
  if (std::any_of(others.begin(), others.end(), is_outside)) {
    names.file = "/run/systemd/resolve/resolv.conf";
  } else {
    const auto server = std::find_if(servers.begin(), servers.end(), IsIpv4Loopback);
    if (server != servers.end()) names.forward_to = *server;
  }
  return names;
}

ShellNetwork::ShellNetwork(uint32_t uid)
    : names_(FindNameService(ReadFileIfAny("/etc/resolv.conf"),
                             ReadFileIfAny("/run/systemd/resolve/resolv.conf"))),
      monitor_(sys::OpenCurrentNamespace().get()) {
  // The lock prevents two shells from choosing the same addresses at the same time.
  const sys::MachineLock lock;
  info_.name = fmt::format("vsh{}", getpid());
  info_.uid = uid;
  info_.network = sys::IdentifyNamespace(sys::OpenCurrentNamespace().get());
  record_ = RecordShell(&info_, lock);
  try {
    Build(PrefixesInUse());
    JoinNeighbours();
    OpenOutside(lock);
  } catch (...) {
    RemoveShell(info_, lock);
    throw;
  }
}

ShellNetwork::~ShellNetwork() {
  try {
    RemoveShell(info_, sys::MachineLock());
  } catch (const Error&) {
    // A destructor cannot report the error; `viaduct clean` finds the record.
  }
}

void ShellNetwork::Choose(const wire::IpPrefix& subnet) {
  const auto address = [&](uint32_t number) {
    wire::IpAddress result = subnet.address;
    result.bytes[3] = static_cast<uint8_t>(result.bytes[3] + number);
    return result;
  };
  subnets_ = {{subnet, address(1), address(2), names_.forward_to}};
}

void ShellNetwork::Build(const std::vector<wire::IpPrefix>& taken) {
  Choose(FreeSubnet(taken));
  inside_ = sys::CreateNamelessNamespace();
  middle_ = sys::CreateNamelessNamespace();
  sys::WriteSysctl(inside_.get(), sys::kPingGroups, sys::kEveryGroup);
  CreateLinks();
  const auto outer = OuterShell(info_.network);
  ipv6_limits_ = HasIpv6("default") ? Ipv6Unavailable() : "";
  if (HasIpv6(info_.name) && ipv6_limits_.empty() && (!outer || !outer->machine6.empty())) {
    const ShellSubnet& ipv4 = subnets_.front();
    subnets_.push_back({Ipv6Of(ipv4.prefix), Ipv6Of(ipv4.host), Ipv6Of(ipv4.program)});
  }
  DescribeInside(outer);
  AddAddresses();
  RaiseLinks();
  AddRoutes(SubnetsOfShells(taken));
}

void ShellNetwork::CreateLinks() {
  sys::Netlink here, inside(inside_.get());
  inside.CreateVethPair({-1, kInside, std::nullopt}, {middle_.get(), kProgramPort, std::nullopt});
  here.CreateVethPair({-1, info_.name, std::nullopt}, {middle_.get(), kHostPort, std::nullopt});
  sys::DisableOffloads(inside_.get(), kInside, sys::Offloads::kSegmentation);
  sys::DisableOffloads(sys::OpenCurrentNamespace().get(), info_.name, sys::Offloads::kSegmentation);
}

// Records the namespace, and the addresses by which the program reaches this machine: in a nested
// shell, those of the outermost shell's gateway.
void ShellNetwork::DescribeInside(const std::optional<ShellInside>& outer) {
  ShellInside inside{sys::IdentifyNamespace(inside_.get()), subnets_.front().host.ToString(), ""};
  if (subnets_.size() > 1) inside.machine6 = subnets_.back().host.ToString();
  if (outer) inside.machine = outer->machine;
  if (outer) inside.machine6 = outer->machine6;
  RecordInside(inside, &info_, &record_);
}

void ShellNetwork::AddAddresses() {
  sys::Netlink here, inside(inside_.get());
  const int host = here.IfIndex(info_.name), program = inside.IfIndex(kInside);
  // Neither interface asks for neighbours or reports multicast groups, so that the path carries the
  // program's packets only.
  here.SetArp(host, false);
  inside.SetArp(program, false);
  for (const ShellSubnet& subnet : subnets_) {
    here.AddAddress(host, {subnet.host, subnet.prefix.length});
    inside.AddAddress(program, {subnet.program, subnet.prefix.length});
  }
}

void ShellNetwork::RaiseLinks() {
  sys::Netlink here, inside(inside_.get()), middle(middle_.get());
  inside.SetUp(inside.IfIndex("lo"), true);
  Raise(inside, kInside);
  Raise(middle, kProgramPort);
  Raise(middle, kHostPort);
  Raise(here, info_.name);
  for (sys::Netlink* session : {&inside, &here}) {
    if (!session->AwaitRunning(session == &here ? info_.name : kInside, kInterfaceTimeout)) {
      throw Error("the interfaces of the shell failed to come up");
    }
  }
}

// Adds the default route and, through the same gateway, routes to the subnets of the outer shells,
// so that nested shells see that these subnets are in use.
void ShellNetwork::AddRoutes(const std::vector<wire::IpPrefix>& outer) {
  sys::Netlink inside(inside_.get());
  const int ifindex = inside.IfIndex(kInside);
  for (const ShellSubnet& subnet : subnets_) {
    wire::IpPrefix everything;
    everything.address.family = subnet.host.family;
    inside.AddRoute(everything, subnet.host, ifindex);
  }
  for (const wire::IpPrefix& subnet : outer) {
    inside.AddRoute(subnet, subnets_.front().host, ifindex);
  }
}

// Adds permanent neighbours, because the path would delay or lose address resolution too.
void ShellNetwork::JoinNeighbours() {
  sys::Netlink here, inside(inside_.get());
  const sys::LinkInfo host = here.GetLink(info_.name), program = inside.GetLink(kInside);
  for (const ShellSubnet& subnet : subnets_) {
    here.AddPermanentNeighbour(host.ifindex, subnet.program, program.mac);
    inside.AddPermanentNeighbour(program.ifindex, subnet.host, host.mac);
  }
}

void ShellNetwork::OpenOutside(const sys::MachineLock& lock) {
  limits_ = path::OpenOutside(subnets_.front(), &info_, &record_, lock);
  if (!limits_.empty() || subnets_.size() == 1) return;
  ipv6_limits_ = path::OpenOutside(subnets_.back(), &info_, &record_, lock);
}

void ShellNetwork::FollowInterfaces() {
  bool lost = false;
  const bool has_changed = !monitor_.Read(&lost).empty() || lost;
  if (!has_changed || !limits_.empty()) return;
  try {
    path::FollowInterfaces(&info_, &record_, sys::MachineLock());
  } catch (const Error&) {
    // After an error, the program cannot use the new interface.
  }
}

void ShellNetwork::EnterNameService() const {
  if (!names_.file && !names_.forward_to) return;
  sys::EnterOwnMounts();
  const std::string file = names_.file.value_or(info_.resolv_conf());
  if (names_.forward_to) WriteFile(file, "nameserver " + subnets_.front().host.ToString() + "\n");
  sys::MountOver(file, "/etc/resolv.conf");
}

}  // namespace viaduct::path
