#include "sys/process/processor.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace viaduct::sys {
namespace {

// Claims a processor by a name in the abstract namespace of UNIX sockets (unix(7)): a name has one
// owner and leaves no file behind.
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

int ParseProcessor(std::string_view text, std::string_view whole) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || number < 0 ||
      number >= CPU_SETSIZE) {
    throw UsageError("processors \"" + std::string(whole) +
                     "\": expected numbers and ranges such as 0,2-3");
  }
  return number;
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

cpu_set_t ParseProcessors(std::string_view text) {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::string_view rest = text;
  for (bool more = true; more;) {
    const size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const size_t dash = item.find('-');
    const int first = ParseProcessor(item.substr(0, dash), text);
    const int last = dash == item.npos ? first : ParseProcessor(item.substr(dash + 1), text);
    if (last < first) ParseProcessor("", text);
    for (int i = first; i <= last; ++i) CPU_SET(i, &set);
    more = comma != rest.npos;
    rest.remove_prefix(more ? comma + 1 : rest.size());
  }
  return set;
}

ThreadPolicyScope::ThreadPolicyScope(const ThreadPolicy& policy) {
  try {
    Apply(policy);
  } catch (...) {
    Restore();
    throw;
  }
}

ThreadPolicyScope::~ThreadPolicyScope() { Restore(); }

void ThreadPolicyScope::Apply(const ThreadPolicy& policy) {
  if (!policy.processors.empty()) {
    const cpu_set_t wanted = ParseProcessors(policy.processors);
    cpu_set_t before;
    SystemCall("sched_getaffinity", sched_getaffinity(0, sizeof before, &before));
    SystemCall("bind the thread to processors " + policy.processors +
                   " (only processors that this machine has and the cgroup of this process allows "
                   "can be used)",
               sched_setaffinity(0, sizeof wanted, &wanted));
    processors_ = before;
  }
  if (policy.lock_memory) {
    SystemCall("lock memory (needs CAP_IPC_LOCK or a higher `ulimit -l`)",
               mlockall(MCL_CURRENT | MCL_FUTURE));
    locked_ = true;
  }
  if (policy.fifo_priority > 0) {
    Scheduling before{sched_getscheduler(0), {}};
    SystemCall("sched_getscheduler", before.policy);
    SystemCall("sched_getparam", sched_getparam(0, &before.parameters));
    const sched_param wanted{.sched_priority = policy.fifo_priority};
    SystemCall("set SCHED_FIFO with priority " + std::to_string(policy.fifo_priority) +
                   " (needs CAP_SYS_NICE or a higher `ulimit -r`)",
               sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &wanted));
    scheduling_ = before;
  }
}

void ThreadPolicyScope::Restore() {
  if (scheduling_) sched_setscheduler(0, scheduling_->policy, &scheduling_->parameters);
  if (locked_) munlockall();
  if (processors_) sched_setaffinity(0, sizeof *processors_, &*processors_);
}

}  // namespace viaduct::sys
