#include "sys/network/neighbour_statistics.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"

namespace viaduct::sys {

std::optional<uint64_t> SumOfColumn(std::string_view text, std::string_view column) {
  std::istringstream lines{std::string(text)};
  std::string head;
  std::getline(lines, head);
  std::istringstream heads(head);
  const std::vector<std::string> names{std::istream_iterator<std::string>(heads), {}};
  const auto found = std::ranges::find(names, column);
  if (found == names.end()) return std::nullopt;
  uint64_t sum = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream numbers(line);
    numbers >> std::hex;
    uint64_t number = 0;
    for (auto name = names.begin(); name <= found; ++name) numbers >> number;
    if (numbers) sum += number;
  }
  return sum;
}

std::optional<uint64_t> UnresolvedDiscards() {
  constexpr char kColumn[] = "unresolved_discards";
  const auto ipv4 = SumOfColumn(ReadFileIfAny("/proc/net/stat/arp_cache"), kColumn);
  const auto ipv6 = SumOfColumn(ReadFileIfAny("/proc/net/stat/ndisc_cache"), kColumn);
  if (!ipv4) return std::nullopt;
  return *ipv4 + ipv6.value_or(0);  // a machine may have no IPv6
}

}  // namespace viaduct::sys
