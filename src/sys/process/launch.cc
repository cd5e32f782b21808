#include "sys/process/launch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "sys/descriptor_limit.h"
#include "sys/descriptors.h"
#include "sys/process/process.h"
#include "sys/process/resource_limits.h"
#include "sys/signals.h"

extern char** environ;

namespace viaduct::sys {
namespace {

using Step = LaunchError::Step;

// The report that the new process sends to its parent when a step fails.
struct Report {
  Step step = Step::kPrepare;
  int error = 0;
  std::array<char, 256> attempted{};
};

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

void EnterGroup(const LaunchOptions& options, pid_t parent) {
  if (options.death_signal != 0) {
    SystemCall("prctl PR_SET_PDEATHSIG", prctl(PR_SET_PDEATHSIG, options.death_signal));
    if (getppid() != parent) ExitForked(127);  // the parent has ended already
  }
  if (options.group == LaunchOptions::Group::kOwn) SystemCall("setpgid", setpgid(0, 0));
  if (options.group == LaunchOptions::Group::kOwnSession) SystemCall("setsid", setsid());
  if (options.default_signals) ResetSignals();
  UnblockSignals();
}

int DuplicateForProgram(int fd) {
  const int source = fd >= 0 ? fd : open("/dev/null", O_RDWR | O_CLOEXEC);
  return source < 0 ? source : fcntl(source, F_DUPFD_CLOEXEC, 3);
}

void TakeDescriptors(const LaunchOptions& options) {
  constexpr std::string_view kAttempted = "set standard input and output";
  // Duplicates the descriptors to numbers above 2 first, so that no descriptor is overwritten
  // before it is used.
  std::array<int, 3> sources;
  for (size_t i = 0; i < sources.size(); ++i) {
    sources[i] = SystemCall(kAttempted, DuplicateForProgram(options.standard[i]));
  }
  for (int fd = 0; fd < 3; ++fd) SystemCall(kAttempted, dup2(sources[static_cast<size_t>(fd)], fd));
  constexpr unsigned kCloseOnExec = 4;  // CLOSE_RANGE_CLOEXEC of linux/close_range.h
  SystemCall("close_range", static_cast<int>(syscall(SYS_close_range, 3U, ~0U, kCloseOnExec)));
  for (const int fd : options.inherited) SystemCall("fcntl F_SETFD", fcntl(fd, F_SETFD, 0));
}

// Executes the program. Does not return, but throws if a step fails; `step` is then the failed
// step.
void Become(const LaunchOptions& options, pid_t parent, Step& step) {
  EnterGroup(options, parent);
  if (options.prepare) options.prepare();
  step = Step::kFolder;
  const std::string& folder = options.folder;
  if (!folder.empty()) SystemCall("change to directory " + folder, chdir(folder.c_str()));
  step = Step::kDescriptors;
  TakeDescriptors(options);
  // Restores the limit only at this point: earlier the parent's descriptors are still open, so that
  // no number below the limit is free.
  if (options.former_descriptor_limit) {
    RestoreDescriptorLimit();
    RestoreCallersLimits();
  }
  step = Step::kTerminal;
  // Makes the terminal the controlling terminal, as the user, and does not take it from another
  // session (tty_ioctl(4)).
  if (options.terminal) SystemCall("take the terminal", ioctl(STDIN_FILENO, TIOCSCTTY, 0));
  step = Step::kExecute;
  const std::vector<char*> words = Pointers(options.words);
  std::vector<char*> environment;
  if (options.environment) {
    environment = Pointers(*options.environment);
    environ = environment.data();
  }
  // Calls execv(3) if the program is given by a path, because execvp(3) runs a file that is not an
  // executable with /bin/sh.
  const bool is_path = options.words[0].find('/') != std::string::npos;
  SystemCall("execute " + options.words[0], (is_path ? execv : execvp)(words[0], words.data()));
}

// Runs in the new process: executes the program, or reports the error and exits.
[[noreturn]] void BecomeOrReport(const LaunchOptions& options, pid_t parent, int pipe) {
  // Moves the descriptor of the pipe above 2, because the standard descriptors are replaced; the
  // execution of the program closes it.
  const int report_fd = pipe > STDERR_FILENO ? pipe : fcntl(pipe, F_DUPFD_CLOEXEC, 3);
  Report report;
  try {
    Become(options, parent, report.step);
  } catch (const SystemError& error) {
    report.error = error.error_number();
    const std::string_view text = error.what();
    const size_t reason = std::strlen(": ") + std::strlen(std::strerror(report.error));
    text.substr(0, text.size() - reason).copy(report.attempted.data(), report.attempted.size() - 1);
  } catch (const std::exception& error) {
    report.error = EINVAL;
    std::string_view(error.what()).copy(report.attempted.data(), report.attempted.size() - 1);
  }
  (void)!write(report_fd, &report, sizeof report);
  ExitForked(127);
}

// Reads a report from the pipe. Returns whether a report has arrived.
bool Receive(int pipe, Report& report) {
  ssize_t got = 0;
  do {
    got = read(pipe, &report, sizeof report);
  } while (got < 0 && errno == EINTR);
  return got == sizeof report;
}

// Waits for a report. Returns whether the pipe is readable before the process that waits for the
// program has closed its socket.
bool AwaitReport(int pipe, int asker) {
  std::array<pollfd, 2> waits{{{pipe, POLLIN, 0}, {asker, 0, 0}}};
  while (poll(waits.data(), waits.size(), -1) < 0 && errno == EINTR) {
  }
  return waits[0].revents != 0 || (waits[1].revents & POLLHUP) == 0;
}

bool IsVariable(std::string_view variable, std::string_view name) {
  return variable.starts_with(name) && variable.substr(name.size()).starts_with('=');
}

}  // namespace

Environment OwnEnvironment() {
  Environment environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    environment.emplace_back(*variable);
  }
  return environment;
}

void UnsetVariable(Environment& environment, std::string_view name) {
  std::erase_if(environment, [&](const std::string& each) { return IsVariable(each, name); });
}

void SetVariable(Environment& environment, std::string_view name, std::string_view value) {
  UnsetVariable(environment, name);
  environment.push_back(std::string(name).append("=").append(value));
}

pid_t Launch(const LaunchOptions& options) {
  Pipe pipe = MakePipe();
  const pid_t parent = getpid();
  const pid_t pid = SystemCall("fork", fork());
  if (pid == 0) BecomeOrReport(options, parent, pipe.write.get());
  pipe.write.reset();
  Report report;
  if (!AwaitReport(pipe.read.get(), options.asker)) {
    report.error = ECONNABORTED;
    ("start " + options.words[0]).copy(report.attempted.data(), report.attempted.size() - 1);
    kill(pid, SIGKILL);
  } else if (!Receive(pipe.read.get(), report)) {
    return pid;
  }
  waitpid(pid, nullptr, 0);
  throw LaunchError(report.step, report.attempted.data(), report.error);
}

}  // namespace viaduct::sys
