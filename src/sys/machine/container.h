// Containers of docker and podman, by name.
#pragma once

#include <optional>
#include <string>

namespace viaduct::sys {

// Returns a name of ip netns, or a pid, unchanged; any other name is a container's, and becomes the
// pid of its first process. Asks docker and podman in lock, as this process's user. `what` begins
// the text of errors. Throws UsageError: there is no such namespace or container, it is not
// running, or neither program is installed.
std::string ResolveContainer(const std::string& name, const std::string& what);

// Returns the pid in the output of `docker inspect --format {{.State.Pid}}`; nothing if that is no
// pid, 0 if the container is not running.
std::optional<int> ParseInspectedPid(const std::string& output);

}  // namespace viaduct::sys
