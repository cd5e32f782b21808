#include "sys/network/tcp_table.h"

#include <netinet/tcp.h>

#include <sstream>
#include <string>

#include "base/file.h"

namespace viaduct::sys {
namespace {

constexpr int kHexadecimal = 16;

// Whether a line of the table describes a connection that still has something to send: "sl: local
// remote state sent:received ...". The heading has no colon in that place.
bool HasToSend(const std::string& line) {
  std::istringstream words(line);
  std::string number, local, remote, state, queues;
  if (!(words >> number >> local >> remote >> state >> queues)) return false;
  if (!number.ends_with(':') || queues.find(':') == std::string::npos) return false;
  switch (std::stoi(state, nullptr, kHexadecimal)) {
    case TCP_FIN_WAIT1:
    case TCP_LAST_ACK:
    case TCP_CLOSING:
      return true;
    case TCP_LISTEN:  // the queues hold connections to be accepted
      return false;
    default:
      return std::stoul(queues, nullptr, kHexadecimal) > 0;
  }
}

}  // namespace

size_t CountUnsentTcp(std::string_view table) {
  std::istringstream lines{std::string(table)};
  size_t count = 0;
  for (std::string line; std::getline(lines, line);) count += HasToSend(line) ? 1 : 0;
  return count;
}

size_t CountUnsentTcp() {
  return CountUnsentTcp(ReadFileIfAny("/proc/thread-self/net/tcp")) +
         CountUnsentTcp(ReadFileIfAny("/proc/thread-self/net/tcp6"));
}

}  // namespace viaduct::sys
