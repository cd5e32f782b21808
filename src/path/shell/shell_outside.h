// The changes that a shell makes in the network in which it was started, so that its program
// reaches the outside. All functions work in the calling thread's namespace.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/wire/address.h"
#include "path/live/shell_list.h"
#include "sys/machine/machine_lock.h"

namespace viaduct::path {

// The addresses of a shell in one address family.
struct ShellSubnet {
  wire::IpPrefix prefix;
  wire::IpAddress host, program;
  // IPv4 address of a name server on this machine's loopback.
  std::optional<std::string> name_server = std::nullopt;
};

// Returns the reason why shells can have no IPv6 here: this kernel can only make the entire machine
// a router, which then ignores router advertisements. Returns an empty text if shells can have
// IPv6.
std::string Ipv6Unavailable();

// Adds the rules for NAT, and enables forwarding for one address family on interfaces that do not
// forward yet, or that forward for another shell. These interfaces forward packets from a shell and
// the answers to them; the rules drop all other packets that arrive at these interfaces and would
// be forwarded. Each change is recorded before it is made. Returns the reason why the program
// reaches nothing outside; empty if it does.
std::string OpenOutside(const ShellSubnet& subnet, ShellInfo* shell, sys::OwnEntry* record,
                        const sys::MachineLock& lock);
// Enables forwarding, like OpenOutside(), on interfaces that have appeared since OpenOutside() was
// called. Throws Error if this fails.
void FollowInterfaces(ShellInfo* shell, sys::OwnEntry* record, const sys::MachineLock& lock);

// Removes the shell's NAT rules, if there are any. Throws Error if this fails.
void RemoveRules(const std::string& shell, wire::Family family);
// Disables the forwarding that this shell has enabled, except where a live shell needs it.
void StopForwarding(const ShellInfo& shell);

// Returns the rules of a shell for nft(8). Packets that arrive at the interfaces in `forwarding`
// are dropped instead of forwarded, except answers to packets from shells.
std::string ShellRules(const std::string& shell, const ShellSubnet& subnet,
                       const std::vector<ForwardingInterface>& forwarding);

}  // namespace viaduct::path
