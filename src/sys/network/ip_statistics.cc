#include "sys/network/ip_statistics.h"

#include <iterator>
#include <sstream>
#include <vector>

#include "base/file.h"
#include "sys/network/netns.h"

namespace viaduct::sys {
namespace {

// The kernel's counters of dropped packets, and the cause of each. Ip6FragFails includes packets
// that IPv6 drops because they are too long (net/ipv6/ip6_output.c, ip6_forward()).
constexpr struct {
  const char* counter;
  const char* cause;
} kDrops[] = {
    {"Ip.InHdrErrors", "ttl_or_header"},    {"Ip6InHdrErrors", "ttl_or_header"},
    {"IpExt.InNoRoutes", "no_route"},       {"Ip6InNoRoutes", "no_route"},
    {"Ip.InAddrErrors", "bad_address"},     {"Ip6InAddrErrors", "bad_address"},
    {"Ip.FragFails", "too_long"},           {"Ip6FragFails", "too_long"},
    {"IpExt.InTruncatedPkts", "truncated"}, {"Ip6InTruncatedPkts", "truncated"},
    {"Ip.InDiscards", "discarded"},         {"Ip6InDiscards", "discarded"},
    {"Ip.OutDiscards", "discarded"},        {"Ip6OutDiscards", "discarded"},
};

std::vector<std::string> WordsOf(const std::string& line) {
  std::istringstream words(line);
  return {std::istream_iterator<std::string>(words), {}};
}

}  // namespace

void AddGroups(std::string_view text, IpCounters& counters) {
  std::istringstream lines{std::string(text)};
  std::string names, numbers;
  while (std::getline(lines, names) && std::getline(lines, numbers)) {
    std::istringstream values(numbers);
    std::string group;
    values >> group;  // the group's name: "Ip:"
    group.back() = '.';
    const std::vector<std::string> words = WordsOf(names);
    int64_t value = 0;  // Tcp.MaxConn may be -1
    for (size_t i = 1; i < words.size() && values >> value; ++i) {
      counters[group + words[i]] = static_cast<uint64_t>(value);
    }
  }
}

void AddLines(std::string_view text, IpCounters& counters) {
  std::istringstream words{std::string(text)};
  std::string name;
  uint64_t value = 0;
  while (words >> name >> value) counters[name] = value;
}

IpCounters DropsAmong(const IpCounters& counters) {
  IpCounters drops;
  for (const auto& [counter, cause] : kDrops) {
    const auto found = counters.find(counter);
    if (found != counters.end() && found->second > 0) drops[cause] += found->second;
  }
  return drops;
}

IpCounters IpDrops(int namespace_fd) {
  const NamespaceScope scope(namespace_fd);
  IpCounters counters;
  AddGroups(ReadFileIfAny("/proc/thread-self/net/snmp"), counters);
  AddGroups(ReadFileIfAny("/proc/thread-self/net/netstat"), counters);
  // Adds the counters of IPv6; the file is empty without IPv6.
  AddLines(ReadFileIfAny("/proc/thread-self/net/snmp6"), counters);
  return DropsAmong(counters);
}

uint64_t SendingDrops(std::string_view proc_net_dev, std::string_view interface) {
  constexpr size_t kDropped =
      11;  // index among the line's numbers: after 8 of reception, and 3 others of sending
  std::istringstream lines{std::string(proc_net_dev)};
  uint64_t drops = 0;
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::vector<std::string> name = WordsOf(line.substr(0, colon));
    if (!interface.empty() && (name.empty() || name[0] != interface)) continue;
    const std::vector<std::string> numbers = WordsOf(line.substr(colon + 1));
    if (numbers.size() > kDropped) drops += std::stoull(numbers[kDropped]);
  }
  return drops;
}

uint64_t SendingDrops(int namespace_fd, std::string_view interface) {
  const NamespaceScope scope(namespace_fd);
  return SendingDrops(ReadFileIfAny("/proc/thread-self/net/dev"), interface);
}

}  // namespace viaduct::sys
