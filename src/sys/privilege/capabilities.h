// The capabilities (capabilities(7)) that this process keeps or drops.
#pragma once

#include <span>

namespace viaduct::privilege {

// Returns the capabilities that root's half needs: NET_ADMIN and NET_RAW for links and sockets,
// SYS_ADMIN for namespaces, SETUID, SETGID and KILL for programs of the user, NET_BIND_SERVICE for
// protocols' ports below 1024, DAC_OVERRIDE, CHOWN and FOWNER for /run and /proc/sys, SYS_PTRACE to
// see the processes in its namespaces, SYS_RESOURCE for socket buffers and priorities beyond the
// limits.
std::span<const int> OfRootsHalf();

// Drops all capabilities of this process except `capabilities` from its permitted, effective and
// ambient set. Throws SystemError.
void KeepCapabilities(std::span<const int> capabilities);

// Drops all capabilities from the bounding set, so that this process and its descendants, including
// sudo, can never have them; keeps the capabilities of root's half, and AUDIT_WRITE, which PAM
// needs for sudo to work. Throws SystemError.
void BoundCapabilities();

}  // namespace viaduct::privilege
