// What a shell changes in the network that it was started in, so that its program reaches the
// outside. All functions work in the calling thread's namespace.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/wire/address.h"
#include "path/live/shell_list.h"
#include "sys/machine/machine_lock.h"

namespace viaduct::emulate {

// A shell's addresses of one family.
struct ShellSubnet {
  wire::IpPrefix prefix;
  wire::IpAddress host, program;
  std::optional<std::string> name_server = std::nullopt;  // on this machine's loopback; IPv4
};

// Why shells can have no IPv6 here: this kernel could only make the whole machine a router, which
// then heeds router advertisements no more. Empty: they can.
std::string WhyNoIpv6();

// Adds the rules for NAT, and lets interfaces forward, one family at a time: those that are there
// and do not forward yet, or do so for another shell. They forward what comes from a shell and the
// answers to that; the rules drop all else which they would forward. Everything is recorded before
// it is done. Returns why the program reaches nothing outside; empty where it does.
std::string OpenOutside(const ShellSubnet& subnet, ShellInfo* shell, sys::OwnEntry* record,
                        const Turn& turn);
// Does the same with the interfaces that have come since. Throws Error.
void FollowInterfaces(ShellInfo* shell, sys::OwnEntry* record, const Turn& turn);

// Throws Error. It is none where they are not there.
void RemoveRules(const std::string& shell, wire::Family family);
// Stops the forwarding that this shell has switched on, except where a live one needs it.
void StopForwarding(const ShellInfo& shell);

// The rules of a shell for nft(8). What arrives at these interfaces is dropped where it would be
// forwarded, but for answers.
std::string ShellRules(const std::string& shell, const ShellSubnet& subnet,
                       const std::vector<ForwardingInterface>& forwarding);

}  // namespace viaduct::emulate
