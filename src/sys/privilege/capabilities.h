// Capabilities (capabilities(7)) of this process.
#pragma once

#include <span>

namespace viaduct::privilege {

// The capabilities that root's half needs: NET_ADMIN and NET_RAW for links and sockets, SYS_ADMIN
// for namespaces, SETUID, SETGID and KILL for programs of the user, NET_BIND_SERVICE for protocols'
// ports below 1024, DAC_OVERRIDE, CHOWN and FOWNER for /run and /proc/sys, SYS_PTRACE to see the
// processes in its namespaces, SYS_RESOURCE for socket buffers and priorities beyond the limits.
std::span<const int> OfRootsHalf();

// Drops all capabilities except these from those of this process: permitted, effective and ambient.
// Throws SystemError.
void KeepCapabilities(std::span<const int> capabilities);

// Bars this process and its descendants, including sudo, from all capabilities except those of
// root's half and AUDIT_WRITE, which PAM needs for sudo to work. Throws SystemError.
void BoundCapabilities();

}  // namespace viaduct::privilege
