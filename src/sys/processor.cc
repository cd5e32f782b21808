#include "sys/processor.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace viaduct::sys {
namespace {

// A name in the abstract namespace of Unix sockets (unix(7)) has one owner and leaves no file
// behind.
UniqueFd Claim(int processor) {
  UniqueFd claim(SystemCall("socket AF_UNIX", socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
  const std::string name = "viaduct-processor-" + std::to_string(processor);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (bind(claim.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0) return claim;
  if (errno != EADDRINUSE) throw SystemError("claim a processor", errno);
  return {};
}

}  // namespace

void BindToProcessor(int processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  SystemCall("bind the thread to processor " + std::to_string(processor),
             sched_setaffinity(0, sizeof one, &one));
}

std::optional<ProcessorLease> ProcessorLease::Take() {
  cpu_set_t allowed;
  SystemCall("sched_getaffinity", sched_getaffinity(0, sizeof allowed, &allowed));
  std::vector<int> processors;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &allowed)) processors.push_back(i);
  }
  const auto here = std::find(processors.begin(), processors.end(), sched_getcpu());
  if (here != processors.end()) std::rotate(processors.begin(), here, processors.end());
  for (const int processor : processors) {
    UniqueFd claim = Claim(processor);
    if (!claim) continue;
    BindToProcessor(processor);
    return ProcessorLease(processor, std::move(claim), allowed);
  }
  return std::nullopt;
}

ProcessorLease::ProcessorLease(int processor, UniqueFd claim, const cpu_set_t& before)
    : processor_(processor), claim_(std::move(claim)), before_(before) {}

ProcessorLease::~ProcessorLease() {
  if (claim_) sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace viaduct::sys
