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

// A shell's addresses of one family.
struct ShellSubnet {
  wire::IpPrefix prefix;
  wire::IpAddress host, program;
  std::optional<std::string> name_server = std::nullopt;  // on this machine's loopback; IPv4
};

// Returns the reason why shells can have no IPv6 here: this kernel could only make the whole
// machine a router, which then ignores router advertisements. Empty: they can.
std::string Ipv6Unavailable();

// Adds the rules for NAT, and lets interfaces forward, one family at a time: those that exist and
// do not forward yet, or do so for another shell. They forward packets from a shell and the answers
// to them; the rules drop all other packets that they would forward. Everything is recorded before
// it is done. Returns the reason why the program reaches nothing outside; empty if it does.
std::string OpenOutside(const ShellSubnet& subnet, ShellInfo* shell, sys::OwnEntry* record,
                        const sys::MachineLock& lock);
// Does the same with the interfaces that have appeared since. Throws Error.
void FollowInterfaces(ShellInfo* shell, sys::OwnEntry* record, const sys::MachineLock& lock);

// Removes the rules, if there are any. Throws Error.
void RemoveRules(const std::string& shell, wire::Family family);
// Stops the forwarding that this shell has switched on, except where a live shell needs it.
void StopForwarding(const ShellInfo& shell);

// Returns the rules of a shell for nft(8). Packets that arrive at these interfaces are dropped
// instead of forwarded, except answers.
std::string ShellRules(const std::string& shell, const ShellSubnet& subnet,
                       const std::vector<ForwardingInterface>& forwarding);

}  // namespace viaduct::path
