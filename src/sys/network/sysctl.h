// Kernel parameters of a network namespace.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace viaduct::sys {

// Returns the path of a parameter: "net.ipv4.ip_forward" -> "/proc/sys/net/ipv4/ip_forward"; a name
// with slashes keeps its dots ("net/ipv4/conf/eth0.1/rp_filter"). Throws UsageError for a name that
// is not under "net".
std::string SysctlPath(std::string_view name);

// Write in, or read from, the given namespace. Throw UsageError: no such parameter, or the kernel
// refuses the value (EINVAL). A parameter of a feature that the kernel lacks is also "no such
// parameter".
void WriteSysctl(int namespace_fd, const std::string& name, const std::string& value);
void WriteSysctlHere(const std::string& name, const std::string& value);  // this thread's namespace
std::string ReadSysctl(int namespace_fd, const std::string& name);
// Writes all values, entering the namespace once. Skips parameters under net.ipv6 if the kernel has
// no IPv6 at all and `skip_missing_ipv6` is set.
void WriteSysctls(int namespace_fd, const std::map<std::string, std::string>& values,
                  bool skip_missing_ipv6 = false);

// The groups whose users may ping (icmp(7)), and the value for all groups. In a new namespace no
// group may ping, as on a machine whose users ping by a capability of the program.
inline constexpr char kPingGroups[] = "net.ipv4.ping_group_range";
inline constexpr char kEveryGroup[] = "0 2147483647";

}  // namespace viaduct::sys
