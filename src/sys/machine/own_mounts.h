// Files and names that differ for some programs from those of the rest of the machine.
#pragma once

#include <string>
#include <vector>

#include "base/wire/address.h"

namespace viaduct::sys {

// Gives this process, and the processes that it starts, separate mounts: other processes do not see
// what is mounted here, but their mounts appear here, too. Throws SystemError.
void EnterOwnMounts();
// Mounts `file` over `target`, or over the file that this links to. Throws SystemError.
void MountOver(const std::string& file, const std::string& target);

struct HostName {
  wire::IpAddress address;
  std::string names;  // one or several, separated by spaces; the first is the canonical name
};
// Returns the text of hosts(5) with localhost and these names, in their order.
std::string HostsText(const std::vector<HostName>& names);

// Gives this process, and the processes that it starts, this host name (its first 64 characters:
// HOST_NAME_MAX) and separate mounts, in which the file `hosts` replaces /etc/hosts, if the machine
// has that. Throws SystemError.
void EnterNames(const std::string& host_name, const std::string& hosts);

}  // namespace viaduct::sys
