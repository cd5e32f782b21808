// Containers of docker and podman, by name.
#pragma once

#include <optional>
#include <string>

namespace viaduct::sys {

// Converts the name of a namespace or container. Returns a name of ip netns, or a pid, unchanged;
// any other name must be the name of a container, and the function returns the pid of the
// container's first process. Asks docker, then podman, as this process's user. `what` begins the
// text of errors. Throws UsageError if there is no such namespace or container, if the container is
// not running, or if neither program is installed.
std::string ResolveContainer(const std::string& name, const std::string& what);

// Returns the pid in the output of `docker inspect --format {{.State.Pid}}`; nothing if the output
// has no pid, 0 if the container is not running.
std::optional<int> ParseInspectedPid(const std::string& output);

}  // namespace viaduct::sys
