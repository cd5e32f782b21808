#include "sys/user_program.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "sys/launch.h"

namespace viaduct::sys {
namespace {

Environment EnvironmentOf(const ProgramOptions& options) {
  Environment environment;
  for (const auto& [name, value] : options.environment) {
    SetVariable(environment, name, value);
  }
  return environment;
}

// In the program's process.
void EnterNode(int namespace_fd, const Identity& owner, mode_t file_mask,
               const std::function<void()>& enter) {
  umask(file_mask & 0777);
  SystemCall("enter the namespace", setns(namespace_fd, CLONE_NEWNET));
  if (enter) enter();
  if (owner.uid != getuid()) Become(owner);
}

[[noreturn]] void ThrowStartFailure(const std::string& what, const LaunchError& error) {
  using Step = LaunchError::Step;
  switch (error.step()) {
    case Step::kExecute:
      throw ExecuteError(what + (error.error_number() == ENOENT
                                     ? "no such program in PATH; install it or give its full path"
                                     : std::strerror(error.error_number())),
                         error.error_number());
    case Step::kFolder:
    case Step::kTerminal:
      throw UsageError(what + error.what());
    default:
      throw Error(what + error.what());
  }
}

}  // namespace

int ExecuteError::shell_status() const {
  constexpr int kNotExecutable = 126, kNotFound = 127;
  return error_number_ == ENOENT ? kNotFound : kNotExecutable;
}

int StartProgram(const ProgramOptions& options, int namespace_fd, const std::string& where,
                 const Identity& owner, const std::function<void()>& enter) {
  LaunchOptions launch;
  launch.words = options.arguments;
  launch.environment = EnvironmentOf(options);
  launch.folder = options.working_directory;
  launch.standard = {options.standard_input, options.standard_output, options.standard_error};
  launch.group = LaunchOptions::Group::kOwnSession;
  launch.terminal = options.terminal;
  launch.default_signals = true;
  launch.former_descriptor_limit = true;
  launch.prepare = [&] { EnterNode(namespace_fd, owner, options.file_mask, enter); };
  try {
    return Launch(launch);
  } catch (const LaunchError& error) {
    ThrowStartFailure(fmt::format("start {} on {}: ", options.arguments[0], where), error);
  }
}

}  // namespace viaduct::sys
