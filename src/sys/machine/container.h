// Containers of docker and podman, by name.
#pragma once

#include <optional>
#include <string>

namespace viaduct::sys {

// A name of ip netns stays, and so does a pid; any other name is a container's, and becomes the pid
// of its first process. docker and podman are asked in turn, as this process's user. `what` begins
// the text of errors. Throws UsageError: there is no such namespace or container, it is not
// running, or neither program is here.
std::string ResolveContainer(const std::string& name, const std::string& what);

// The pid that `docker inspect --format {{.State.Pid}}` has printed; none if that is no pid, 0 if
// the container is not running.
std::optional<int> ParseInspectedPid(const std::string& output);

}  // namespace viaduct::sys
