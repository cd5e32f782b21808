#include "broker/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "base/error.h"

extern char** environ;

namespace viaduct::broker {
namespace {

// How far the child came; written to the status pipe when it goes no further.
enum class Step : int { kNamespace, kIdentity, kDirectory, kDescriptors, kTerminal, kExecute };

struct StartFailure {
  Step step;
  int error;
};

std::optional<rlimit> former_descriptor_limit;

std::map<std::string, std::string> Environment(const ProgramOptions& options,
                                               const Identity& owner) {
  std::map<std::string, std::string> values;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const char* equals = std::strchr(*entry, '=');
    if (equals != nullptr) values[std::string(*entry, equals - *entry)] = equals + 1;
  }
  const passwd* user = owner.uid != getuid() ? getpwuid(owner.uid) : nullptr;
  if (user != nullptr) {  // under sudo these are root's
    values["HOME"] = user->pw_dir;
    values["USER"] = values["LOGNAME"] = user->pw_name;
    values["SHELL"] = user->pw_shell;
  }
  values.erase("VIADUCT_BROKER_FD");
  for (const auto& [name, value] : options.environment) values[name] = value;
  return values;
}

bool RedirectStandardDescriptors(const ProgramOptions& options) {
  // Above 2 first, so that none is overwritten before it is used.
  int sources[3] = {options.standard_input, options.standard_output, options.standard_error};
  for (int& source : sources) {
    source = source >= 0 ? fcntl(source, F_DUPFD_CLOEXEC, 10) : open("/dev/null", O_RDWR);
    if (source < 0) return false;
  }
  for (int fd = 0; fd < 3; ++fd) {
    if (dup2(sources[fd], fd) < 0) return false;
  }
  return syscall(SYS_close_range, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */) == 0;
}

void ResetSignals() {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool TakeIdentity(const Identity& owner) {
  try {
    Become(owner);
    return true;
  } catch (const SystemError& error) {
    errno = error.error_number();
    return false;
  }
}

Step ReachedInChild(const ProgramOptions& options, int namespace_fd, const Identity& owner,
                    char* const* arguments, char** environment) {
  setsid();
  ResetSignals();
  if (former_descriptor_limit) setrlimit(RLIMIT_NOFILE, &*former_descriptor_limit);
  if (setns(namespace_fd, CLONE_NEWNET) != 0) return Step::kNamespace;
  if (owner.uid != getuid() && !TakeIdentity(owner)) return Step::kIdentity;
  const std::string& directory = options.working_directory;
  if (!directory.empty() && chdir(directory.c_str()) != 0) return Step::kDirectory;
  if (!RedirectStandardDescriptors(options)) return Step::kDescriptors;
  // As the user, and without taking it from another session (tty_ioctl(4)).
  if (options.terminal && ioctl(STDIN_FILENO, TIOCSCTTY, 0) != 0) return Step::kTerminal;
  environ = environment;  // the program's own PATH is searched
  execvp(arguments[0], arguments);
  return Step::kExecute;
}

[[noreturn]] void ThrowStartFailure(const ProgramOptions& options, const StartFailure& failure) {
  const std::string what = fmt::format("start {} on node {}: ", options.arguments[0], options.node);
  const char* reason = std::strerror(failure.error);
  switch (failure.step) {
    case Step::kExecute:
      if (failure.error == ENOENT) {
        throw EnvironmentError(what + "no such program in PATH; install it or give its full path");
      }
      throw EnvironmentError(what + reason);
    case Step::kDirectory:
      throw UsageError(
          fmt::format("{}working directory {}: {}", what, options.working_directory, reason));
    case Step::kNamespace:
      throw Error(fmt::format("{}enter the namespace: {}", what, reason));
    case Step::kIdentity:
      throw Error(fmt::format("{}take the user's identity: {}", what, reason));
    case Step::kDescriptors:
      throw Error(fmt::format("{}set standard input and output: {}", what, reason));
    case Step::kTerminal:
      throw UsageError(fmt::format("{}take the terminal: {}", what, reason));
  }
  throw Error(what + reason);
}

}  // namespace

void RaiseDescriptorLimit() {
  rlimit limit;
  SystemCall("getrlimit", getrlimit(RLIMIT_NOFILE, &limit));
  former_descriptor_limit = limit;
  limit.rlim_cur = limit.rlim_max;
  SystemCall("setrlimit", setrlimit(RLIMIT_NOFILE, &limit));
}

int StartProgram(const ProgramOptions& options, int namespace_fd, const Identity& owner) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : Environment(options, owner)) texts.push_back(name + "=" + value);
  std::vector<char*> environment, arguments;
  for (std::string& text : texts) environment.push_back(text.data());
  environment.push_back(nullptr);
  for (const std::string& argument : options.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);

  int ends[2];
  SystemCall("pipe", pipe2(ends, O_CLOEXEC));
  UniqueFd status_read(ends[0]), status_write(ends[1]);
  const int pid = SystemCall("fork", fork());
  if (pid == 0) {
    // It must survive RedirectStandardDescriptors() and close when the program is executed.
    const int status = fcntl(status_write.get(), F_DUPFD_CLOEXEC, 20);
    StartFailure failure{};
    failure.step =
        ReachedInChild(options, namespace_fd, owner, arguments.data(), environment.data());
    failure.error = errno;
    if (write(status, &failure, sizeof failure) < 0) _exit(126);
    _exit(127);
  }
  status_write.reset();
  StartFailure failure;
  ssize_t received;
  do {
    received = read(status_read.get(), &failure, sizeof failure);
  } while (received < 0 && errno == EINTR);
  if (received == static_cast<ssize_t>(sizeof failure)) {
    waitpid(pid, nullptr, 0);
    ThrowStartFailure(options, failure);
  }
  return pid;
}

}  // namespace viaduct::broker
