#include "emulate/shell_network.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "emulate/shell_addresses.h"
#include "emulate/shell_outside.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/offload.h"

namespace viaduct::emulate {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgramPort = kShellPorts[0];
constexpr const char* kHostPort = kShellPorts[1];
constexpr char kInside[] = "eth0";
constexpr Duration kInterfacePatience = Duration::Seconds(5);

bool IsLoopback(const std::string& server) { return server.starts_with("127."); }

// The machine's address within the shell whose program this process belongs to.
std::optional<wire::IpAddress> MachineOfOuterShell(const sys::NamespaceId& here) {
  for (const ShellInfo& shell : ListShells()) {
    if (shell.alive && shell.inside == here) return wire::IpAddress::Parse(shell.machine);
  }
  return std::nullopt;
}

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
    names.forward_to = servers.front();
  }
  return names;
}

ShellNetwork::ShellNetwork(uint32_t uid)
    : names_(FindNameService(ReadFileIfAny("/etc/resolv.conf"),
                             ReadFileIfAny("/run/systemd/resolve/resolv.conf"))) {
  // Two shells that choose addresses at the same time could choose the same ones.
  const Turn turn;
  info_.name = fmt::format("vsh{}", getpid());
  info_.uid = uid;
  info_.network = sys::IdentifyNamespace(sys::OpenCurrentNamespace().get());
  record_ = RecordShell(&info_, turn);
  try {
    Build(PrefixesInUse());
    JoinNeighbours();
    limits_ = OpenOutside({subnet_, host_address_, names_.forward_to}, &info_, &record_, turn);
  } catch (...) {
    RemoveShell(info_, turn);
    throw;
  }
}

ShellNetwork::~ShellNetwork() {
  try {
    RemoveShell(info_, Turn());
  } catch (const Error&) {
    // Nobody to tell; `viaduct clean` finds the record.
  }
}

void ShellNetwork::Choose(const wire::IpPrefix& subnet) {
  subnet_ = subnet;
  const auto address = [&](uint32_t number) {
    wire::IpAddress result = subnet.address;
    result.bytes[3] = static_cast<uint8_t>(result.bytes[3] + number);
    return result;
  };
  host_address_ = address(1);
  program_address_ = address(2);
  machine_address_ = MachineOfOuterShell(info_.network).value_or(host_address_);
}

void ShellNetwork::Build(const std::vector<wire::IpPrefix>& taken) {
  Choose(FreeSubnet(taken));
  inside_ = sys::CreateNamelessNamespace();
  RecordInside(sys::IdentifyNamespace(inside_.get()), machine_address_.ToString(), &info_,
               &record_);
  middle_ = sys::CreateNamelessNamespace();
  sys::Netlink here, inside(inside_.get()), middle(middle_.get());
  inside.CreateVethPair({-1, kInside, std::nullopt}, {middle_.get(), kProgramPort, std::nullopt});
  here.CreateVethPair({-1, info_.name, std::nullopt}, {middle_.get(), kHostPort, std::nullopt});
  inside.SetUp(inside.IfIndex("lo"), true);
  inside.AddAddress(inside.IfIndex(kInside), {program_address_, subnet_.length});
  here.AddAddress(here.IfIndex(info_.name), {host_address_, subnet_.length});
  sys::DisableOffloads(inside_.get(), kInside, sys::Offloads::kSegmentation);
  sys::DisableOffloads(sys::OpenCurrentNamespace().get(), info_.name, sys::Offloads::kSegmentation);
  Raise(inside, kInside);
  Raise(middle, kProgramPort);
  Raise(middle, kHostPort);
  Raise(here, info_.name);
  for (sys::Netlink* session : {&inside, &here}) {
    if (!session->AwaitRunning(session == &here ? info_.name : kInside, kInterfacePatience)) {
      throw Error("the shell's interfaces do not come up");
    }
  }
  AddRoutes(SubnetsOfShells(taken));
}

// Those to the outer shells lead where the default route does: they tell the shells within which
// subnets are taken.
void ShellNetwork::AddRoutes(const std::vector<wire::IpPrefix>& outer) {
  sys::Netlink inside(inside_.get());
  const int ifindex = inside.IfIndex(kInside);
  inside.AddRoute(wire::IpPrefix::Parse("0.0.0.0/0"), host_address_, ifindex);
  for (const wire::IpPrefix& subnet : outer) inside.AddRoute(subnet, host_address_, ifindex);
}

// Static neighbours, because the path would delay or lose address resolution too.
void ShellNetwork::JoinNeighbours() {
  sys::Netlink here, inside(inside_.get());
  const sys::LinkInfo host = here.GetLink(info_.name), program = inside.GetLink(kInside);
  here.AddPermanentNeighbour(host.ifindex, program_address_, program.mac);
  inside.AddPermanentNeighbour(program.ifindex, host_address_, host.mac);
}

void ShellNetwork::EnterNameService() const {
  if (!names_.file && !names_.forward_to) return;
  SystemCall("unshare the mount namespace", unshare(CLONE_NEWNS));
  SystemCall("mount --make-rslave /", mount("", "/", "none", MS_SLAVE | MS_REC, nullptr));
  const std::string file = names_.file.value_or(info_.resolv_conf());
  if (names_.forward_to) WriteFile(file, "nameserver " + host_address_.ToString() + "\n");
  // The target is mounted over, because the file may be a symbolic link.
  const std::string target = fs::canonical("/etc/resolv.conf");
  SystemCall("mount over " + target, mount(file.c_str(), target.c_str(), "none", MS_BIND, nullptr));
}

}  // namespace viaduct::emulate
