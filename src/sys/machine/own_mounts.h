// Gives some programs files and names that differ from those of all other programs of the machine.
#pragma once

#include <string>
#include <vector>

#include "base/wire/address.h"

namespace viaduct::sys {

// Gives this process, and the processes that it starts, separate mounts: other processes do not see
// what this process mounts, but their mounts appear in this process, too. Throws SystemError.
void EnterOwnMounts();
// Mounts `file` over `target`, or over the file to which `target` links. Throws SystemError.
void MountOver(const std::string& file, const std::string& target);

struct HostName {
  wire::IpAddress address;
  std::string names;  // one or several names, separated by spaces; the first is the canonical name
};
// Returns the text of a file hosts(5) with localhost and these names, in their order.
std::string HostsText(const std::vector<HostName>& names);

// Gives this process, and the processes that it starts, this host name (its first 64 characters:
// HOST_NAME_MAX) and separate mounts, in which the file `hosts` replaces /etc/hosts, if the machine
// has that file. Throws SystemError.
void EnterNames(const std::string& host_name, const std::string& hosts);

}  // namespace viaduct::sys
