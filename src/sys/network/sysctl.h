// Kernel parameters of a network namespace.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace viaduct::sys {

// "net.ipv4.ip_forward" -> "/proc/sys/net/ipv4/ip_forward"; a name with slashes keeps its dots
// ("net/ipv4/conf/eth0.1/rp_filter"). Only names under "net": UsageError otherwise.
std::string SysctlPath(std::string_view name);

// Write in, or read from, the given namespace. UsageError: no such parameter, or the kernel refuses
// the value (EINVAL). A parameter of a feature the kernel lacks is also "no such parameter".
void WriteSysctl(int namespace_fd, const std::string& name, const std::string& value);
void WriteSysctlHere(const std::string& name, const std::string& value);  // the calling thread's
std::string ReadSysctl(int namespace_fd, const std::string& name);
// All of them, entering the namespace once. Those under net.ipv6 are skipped where the kernel has
// no IPv6 at all and `skip_missing_ipv6` is set.
void WriteSysctls(int namespace_fd, const std::map<std::string, std::string>& values,
                  bool skip_missing_ipv6 = false);

// The groups whose users may ping (icmp(7)), and the value for all of them. A namespace begins with
// none of them, as a machine does whose users ping by a capability of the program's.
inline constexpr char kPingGroups[] = "net.ipv4.ping_group_range";
inline constexpr char kEveryGroup[] = "0 2147483647";

}  // namespace viaduct::sys
