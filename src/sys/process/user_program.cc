#include "sys/process/user_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "sys/process/launch.h"
#include "sys/trusted_folder.h"

namespace viaduct::sys {
namespace {

Environment EnvironmentOf(const ProgramOptions& options) {
  Environment environment;
  for (const auto& [name, value] : options.environment) {
    SetVariable(environment, name, value);
  }
  return environment;
}

// Enters the namespace and becomes the owner; runs in the program's process.
void EnterNode(const ProgramOptions& options, int namespace_fd, const Identity& owner,
               const std::function<void()>& enter) {
  umask(options.file_mask & 0777);
  SystemCall("enter the namespace", setns(namespace_fd, CLONE_NEWNET));
  if (enter) enter();
  if (owner.uid == getuid()) return;
  Become(owner);
  if (!options.new_privileges) ForbidNewPrivileges();
}

bool HasLine(const std::string& text, const std::string& wanted) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line == wanted) return true;
  }
  return false;
}

bool MayHaveNewPrivileges(const Identity& owner) {
  const auto account = FindAccount(owner.uid);
  const UniqueFd file(open(kNewPrivilegesFile, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  return account && file && IsTrusted(file.get()) &&
         HasLine(ReadToEnd(file.get(), kNewPrivilegesFile), account->name);
}

void CheckNewPrivileges(const Identity& owner, const std::string& what) {
  if (owner.uid == getuid() || MayHaveNewPrivileges(owner)) return;
  const auto account = FindAccount(owner.uid);
  throw EnvironmentError(fmt::format(
      "{}the program cannot gain privileges (new_privileges, --new-privileges) unless root adds "
      "the line \"{}\" to {}",
      what, account ? account->name : std::to_string(owner.uid), kNewPrivilegesFile));
}

[[noreturn]] void ThrowStartFailure(const std::string& what, const LaunchError& error) {
  using Step = LaunchError::Step;
  switch (error.step()) {
    case Step::kExecute:
      throw ExecuteError(what + (error.error_number() == ENOENT
                                     ? "program not found; install the program, or correct its path"
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
  const std::string what = fmt::format("start {} on {}: ", options.arguments[0], where);
  if (options.new_privileges) CheckNewPrivileges(owner, what);
  LaunchOptions launch;
  launch.words = options.arguments;
  launch.environment = EnvironmentOf(options);
  launch.folder = options.working_directory;
  launch.standard = {options.standard_input, options.standard_output, options.standard_error};
  launch.group = LaunchOptions::Group::kOwnSession;
  launch.terminal = options.terminal;
  launch.asker = options.asker;
  launch.default_signals = true;
  launch.former_descriptor_limit = true;
  launch.prepare = [&] { EnterNode(options, namespace_fd, owner, enter); };
  try {
    return Launch(launch);
  } catch (const LaunchError& error) {
    ThrowStartFailure(what, error);
  }
}

}  // namespace viaduct::sys
