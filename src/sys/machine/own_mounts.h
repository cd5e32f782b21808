// Files and names that are others for some programs than for the rest of the machine.
#pragma once

#include <string>
#include <vector>

#include "base/wire/address.h"

namespace viaduct::sys {

// From now on this process, and those that it starts, have mounts of their own: what is mounted
// here is not mounted for others, but what they mount comes here too. Throws SystemError.
void EnterOwnMounts();
// Mounts `file` over `target`, or over what that links to. Throws SystemError.
void MountOver(const std::string& file, const std::string& target);

struct HostName {
  wire::IpAddress address;
  std::string names;  // one, or several with spaces between them; the first is the canonical one
};
// The text of hosts(5) with localhost and these, in their order.
std::string HostsText(const std::vector<HostName>& names);

// From now on this process, and those that it starts, have this host name (its first 64 characters:
// HOST_NAME_MAX) and mounts of their own, in which the file `hosts` is in the place of /etc/hosts,
// if the machine has that. Throws SystemError.
void EnterNames(const std::string& host_name, const std::string& hosts);

}  // namespace viaduct::sys
