#include "sys/process/child.h"

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/poller.h"
#include "base/wait_status.h"
#include "sys/descriptors.h"
#include "sys/process/launch.h"
#include "sys/process/process.h"

namespace viaduct::sys {

int AwaitChild(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) throw SystemError("waitpid", errno);
  }
  return status;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      leads_group_(other.leads_group_),
      status_(std::exchange(other.status_, std::nullopt)) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(leads_group_, other.leads_group_);
  std::swap(status_, other.status_);
  return *this;
}

Child::~Child() {
  if (pid_ <= 0) return;
  Signal(SIGKILL);
  try {
    Wait();
  } catch (const Error&) {
    // Ignores the error: other code has already waited for the child.
  }
}

int Child::Wait() {
  if (!status_) status_ = AwaitChild(pid_);
  return *status_;
}

std::optional<int> Child::WaitFor(Duration timeout) {
  if (status_) return status_;
  const UniqueFd process = OpenPidFd(pid_);  // no code has waited yet, so the pid is still valid
  Poller poller;
  poller.Add(process.get(), 0);
  const Instant deadline = MonotonicClock::Now() + timeout;
  for (Duration left = timeout; left >= Duration(); left = deadline - MonotonicClock::Now()) {
    const Poller::Ready ended = poller.Wait(left);
    if (!ended.interrupted()) return ended.empty() ? std::nullopt : std::optional(Wait());
  }
  return std::nullopt;
}

void Child::Signal(int signal) {
  if (pid_ > 0 && !status_) kill(leads_group_ ? -pid_ : pid_, signal);
}

ProgramResult RunProgram(const std::vector<std::string>& words, const std::string& input) {
  const UniqueFd input_file = MemoryFile("input", input);
  Pipe output = MakePipe();
  LaunchOptions options;
  options.words = words;
  options.standard = {input_file.get(), output.write.get(), output.write.get()};
  options.default_signals = true;
  try {
    Child child(Launch(options));
    output.write.reset();
    ProgramResult result;
    result.output = ReadToEnd(output.read.get(), words[0]);
    result.status = ShellStatus(child.Wait());
    return result;
  } catch (const LaunchError& error) {
    if (error.error_number() != ENOENT) throw;
    return {127, "program not found in PATH"};
  }
}

}  // namespace viaduct::sys
