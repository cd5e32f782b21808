#include "emulate/shell_network.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "emulate/lock_file.h"
#include "sys/child.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/offload.h"
#include "sys/network/sysctl.h"
#include "sys/trusted_folder.h"

namespace viaduct::emulate {
namespace {

namespace fs = std::filesystem;

constexpr char kInside[] = "eth0";
constexpr char kTurn[] = "shells";  // the lock of whoever makes or removes one
constexpr char kForwarding[] = "net.ipv4.ip_forward";
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

ShellNetwork::ShellNetwork()
    : name_(fmt::format("vsh{}", getpid())),
      names_(FindNameService(ReadFileIfAny("/etc/resolv.conf"),
                             ReadFileIfAny("/run/systemd/resolve/resolv.conf"))) {
  // Two shells that choose addresses at the same time could choose the same ones.
  const UniqueFd turn = OpenLock(kTurn);
  SystemCall("flock", flock(turn.get(), LOCK_EX));
  try {
    Build(FreeSubnet(AddressesHere()));
    JoinNeighbours();
    OpenOutside();
  } catch (...) {
    Remove();
    throw;
  }
}

ShellNetwork::~ShellNetwork() { Remove(); }

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
  middle_ = sys::CreateNamelessNamespace();
  sys::Netlink here, inside(inside_.get()), middle(middle_.get());
  inside.CreateVethPair({-1, kInside, std::nullopt}, {middle_.get(), kProgramPort, std::nullopt});
  here.CreateVethPair({-1, name_, std::nullopt}, {middle_.get(), kHostPort, std::nullopt});
  inside.SetUp(inside.IfIndex("lo"), true);
  inside.AddAddress(inside.IfIndex(kInside), {program_address_, subnet.length});
  here.AddAddress(here.IfIndex(name_), {host_address_, subnet.length});
  sys::DisableOffloads(inside_.get(), kInside, sys::Offloads::kSegmentation);
  sys::DisableOffloads(sys::OpenCurrentNamespace().get(), name_, sys::Offloads::kSegmentation);
  Raise(inside, kInside);
  Raise(middle, kProgramPort);
  Raise(middle, kHostPort);
  Raise(here, name_);
  for (sys::Netlink* session : {&inside, &here}) {
    if (!session->AwaitRunning(session == &here ? name_ : kInside, kInterfacePatience)) {
      throw Error("the shell's interfaces do not come up");
    }
  }
  inside.AddRoute(wire::IpPrefix::Parse("0.0.0.0/0"), host_address_, inside.IfIndex(kInside));
}

// Static neighbours, because the path would delay or lose address resolution too.
void ShellNetwork::JoinNeighbours() {
  sys::Netlink here, inside(inside_.get());
  const sys::LinkInfo host = here.GetLink(name_), program = inside.GetLink(kInside);
  here.AddPermanentNeighbour(host.ifindex, program_address_, program.mac);
  inside.AddPermanentNeighbour(program.ifindex, host_address_, host.mac);
}

std::string ShellNetwork::Rules() const {
  const std::string table = "table ip " + name_;
  std::string rules = fmt::format(
      "{0} {{\n"
      "  chain postrouting {{\n"
      "    type nat hook postrouting priority 100;\n"
      "    ip saddr {1} oifname != \"{2}\" masquerade\n"
      "  }}\n",
      table, subnet_.ToString(), name_);
  if (names_.forward_to) {
    rules += fmt::format(
        "  chain prerouting {{\n"
        "    type nat hook prerouting priority -100;\n"
        "    iifname \"{0}\" ip daddr {1} udp dport 53 dnat to {2}\n"
        "    iifname \"{0}\" ip daddr {1} tcp dport 53 dnat to {2}\n"
        "  }}\n",
        name_, host_address_.ToString(), *names_.forward_to);
  }
  return rules + "}\n";
}

void ShellNetwork::OpenOutside() {
  if (names_.forward_to) {
    sys::WriteSysctl(sys::OpenCurrentNamespace().get(),
                     "net/ipv4/conf/" + name_ + "/route_localnet", "1");
  }
  const sys::ProgramResult result = sys::RunProgram({"nft", "-f", "-"}, Rules());
  if (result.status != 0) {
    limits_ = result.status == 127
                  ? "no NAT to the outside: nft is missing (apt-get install nftables)"
                  : "no NAT to the outside: " + result.output;
    return;
  }
  has_rules_ = true;
  ForwardOn();
}

void ShellNetwork::ForwardOn() {
  const UniqueFd here = sys::OpenCurrentNamespace();
  const std::string name = fmt::format("forwarding-{}", sys::NamespaceInode(here.get()));
  forwarding_file_ = LockPath(name);
  forwarding_lock_ = OpenLock(name);
  SystemCall("flock", flock(forwarding_lock_.get(), LOCK_SH));
  // A killed shell has left its file, which still has the original forwarding setting.
  if (ReadFileIfAny(forwarding_file_).empty()) {
    const std::string before = sys::ReadSysctl(here.get(), kForwarding);
    SystemCall("write " + forwarding_file_,
               write(forwarding_lock_.get(), before.data(), before.size()));
  }
  sys::WriteSysctl(here.get(), kForwarding, "1");
}

void ShellNetwork::ForwardOff() {
  if (!forwarding_lock_) return;
  const UniqueFd turn = OpenLock(kTurn);
  flock(turn.get(), LOCK_EX);
  if (flock(forwarding_lock_.get(), LOCK_EX | LOCK_NB) == 0) {  // the last shell here
    const std::string before = ReadFileIfAny(forwarding_file_);
    unlink(forwarding_file_.c_str());
    if (!before.empty()) {
      sys::WriteSysctl(sys::OpenCurrentNamespace().get(), kForwarding, before);
    }
  }
  forwarding_lock_.reset();
}

void ShellNetwork::EnterNameService() const {
  if (!names_.file && !names_.forward_to) return;
  SystemCall("unshare the mount namespace", unshare(CLONE_NEWNS));
  SystemCall("mount --make-rslave /", mount("", "/", "none", MS_SLAVE | MS_REC, nullptr));
  std::string file = names_.file.value_or("");
  char made[] = "/tmp/viaduct-resolv-XXXXXX";
  if (names_.forward_to) {
    const UniqueFd fd(SystemCall("mkstemp", mkstemp(made)));
    const std::string text = "nameserver " + host_address_.ToString() + "\n";
    SystemCall("write", write(fd.get(), text.data(), text.size()));
    SystemCall("fchmod", fchmod(fd.get(), 0644));
    file = made;
  }
  // The target is mounted over, because the file may be a symbolic link.
  const std::string target = fs::canonical("/etc/resolv.conf");
  const int result = mount(file.c_str(), target.c_str(), "none", MS_BIND, nullptr);
  const int error = errno;
  if (names_.forward_to) unlink(made);
  if (result < 0) throw SystemError("mount over " + target, error);
}

void ShellNetwork::Remove() {
  if (has_rules_) sys::RunProgram({"nft", "delete", "table", "ip", name_});
  has_rules_ = false;
  try {
    ForwardOff();
    sys::Netlink here;
    if (const auto link = here.FindLink(name_)) here.DeleteLink(link->ifindex);
  } catch (const Error&) {
    // The interface disappears with the last process in the namespaces.
  }
}

}  // namespace viaduct::emulate
