// The list of running shells: a registry (sys/machine/registry.h), /run/viaduct/.shells, whose
// entries hold record.json, the control socket of the shell's path, and the resolv.conf of a
// program whose name server is on this machine's loopback. The maker of an entry is the shell's
// keeper, which records each change before it makes the change (path/shell/shell_record.h).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/wire/address.h"
#include "sys/machine/namespace_id.h"
#include "sys/machine/registry.h"

namespace viaduct::path {

// The name of the pair of every shell's path.
inline constexpr char kShellPair[] = "shell";
// The shell's ports: interfaces of a namespace between the program's namespace and the namespace
// outside.
inline constexpr std::array kShellPorts{"program", "host"};

// An interface that forwards for the shell and did not forward before. Its name may change.
struct ForwardingInterface {
  int ifindex = 0;
  wire::Family family = wire::Family::kIpv4;

  bool operator==(const ForwardingInterface&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ForwardingInterface, ifindex, family)

// A shell's namespace, and the addresses of this machine in that namespace, as texts.
struct ShellInside {
  sys::NamespaceId network;
  std::string machine;
  std::string machine6;  // empty: the shell has no IPv6
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ShellInside, network, machine, machine6)

// A running shell. The shell's interface and its nft tables have the shell's name.
struct ShellInfo : sys::RegistryEntry {
  sys::NamespaceId network;           // the namespace in which the shell was started
  std::optional<ShellInside> inside;  // the namespace of the program; absent until it is created
  std::vector<wire::Family> rules;    // address families of the shell's nft tables
  std::vector<ForwardingInterface> forwarding;

  void Read(const sys::RecordLines& lines);
  std::string control_socket() const { return folder / "control"; }
  std::string resolv_conf() const { return folder / "resolv.conf"; }
};

sys::Registry Shells();
std::vector<ShellInfo> ListShells();

}  // namespace viaduct::path
