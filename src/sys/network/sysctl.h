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

// Write or read a parameter of the given namespace. Throw UsageError if there is no such parameter,
// or the kernel refuses the value (EINVAL). A parameter of a feature that the kernel lacks does not
// exist either.
void WriteSysctl(int namespace_fd, const std::string& name, const std::string& value);
// Writes a parameter of the calling thread's namespace, like WriteSysctl().
void WriteSysctlHere(const std::string& name, const std::string& value);
std::string ReadSysctl(int namespace_fd, const std::string& name);
// Writes all values, and enters the namespace only once. Skips parameters under net.ipv6 if the
// kernel has no IPv6 at all and `skip_missing_ipv6` is set.
void WriteSysctls(int namespace_fd, const std::map<std::string, std::string>& values,
                  bool skip_missing_ipv6 = false);

// The parameter with the groups whose users may ping (icmp(7)), and its value for all groups. In a
// new namespace no group may ping, as on a machine on which users ping because the program has a
// capability.
inline constexpr char kPingGroups[] = "net.ipv4.ping_group_range";
inline constexpr char kEveryGroup[] = "0 2147483647";

}  // namespace viaduct::sys
