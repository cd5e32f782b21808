// Containers of docker and podman, by name.
#pragma once

#include <optional>
#include <string>

namespace viaduct::emulate {

// What `--into` means to root's half: a name of ip netns stays, and so does a pid; any other name
// is a container's, and becomes the pid of its first process. docker and podman are asked in turn,
// as this process's user. Throws UsageError: there is no such namespace or container, it is not
// running, or neither program is here.
std::string ResolveInto(const std::string& into);

// The pid that `docker inspect --format {{.State.Pid}}` has printed; none if that is no pid, 0 if
// the container is not running.
std::optional<int> ParseInspectedPid(const std::string& output);

}  // namespace viaduct::emulate
