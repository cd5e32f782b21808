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
constexpr uint32_t kFirst = 0x64400000;  // 100.64.0.0
constexpr uint32_t kLast = 0x647ffffc;   // the last /30 of 100.64.0.0/10
constexpr Duration kInterfacePatience = Duration::Seconds(5);

bool IsLoopback(const std::string& server) { return server.starts_with("127."); }

// Whether two prefixes have an address in common.
bool Overlap(const wire::IpPrefix& a, const wire::IpPrefix& b) {
  return a.address.family == b.address.family && (a.Contains(b.address) || b.Contains(a.address));
}

std::vector<wire::IpPrefix> AddressesHere() {
  sys::Netlink session;
  std::vector<wire::IpPrefix> all;
  for (const sys::LinkInfo& link : session.Links()) {
    for (const wire::IpPrefix& address : session.Addresses(link.ifindex)) all.push_back(address);
  }
  return all;
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

wire::IpPrefix FreeSubnet(const std::vector<wire::IpPrefix>& taken) {
  for (uint32_t base = kFirst; base <= kLast; base += 4) {
    const wire::IpPrefix subnet{wire::IpAddress::FromIpv4(base), 30};
    const bool is_free = std::none_of(taken.begin(), taken.end(), [&](const wire::IpPrefix& other) {
      return Overlap(subnet, other);
    });
    if (is_free) return subnet;
  }
  throw Error("all of 100.64.0.0/10 is in use here; no addresses are left for a shell");
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
    Build(FreeSubnet(AddressesHere()));
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

void ShellNetwork::Build(const wire::IpPrefix& subnet) {
  subnet_ = subnet;
  const auto address = [&](uint32_t number) {
    wire::IpAddress result = subnet.address;
    result.bytes[3] = static_cast<uint8_t>(result.bytes[3] + number);
    return result;
  };
  host_address_ = address(1);
  program_address_ = address(2);
  inside_ = sys::CreateNamelessNamespace();
  RecordInside(sys::IdentifyNamespace(inside_.get()), &info_, &record_);
  middle_ = sys::CreateNamelessNamespace();
  sys::Netlink here, inside(inside_.get()), middle(middle_.get());
  inside.CreateVethPair({-1, kInside, std::nullopt}, {middle_.get(), kProgramPort, std::nullopt});
  here.CreateVethPair({-1, info_.name, std::nullopt}, {middle_.get(), kHostPort, std::nullopt});
  inside.SetUp(inside.IfIndex("lo"), true);
  inside.AddAddress(inside.IfIndex(kInside), {program_address_, subnet.length});
  here.AddAddress(here.IfIndex(info_.name), {host_address_, subnet.length});
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
  inside.AddRoute(wire::IpPrefix::Parse("0.0.0.0/0"), host_address_, inside.IfIndex(kInside));
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
