// Programs of the invoking user that root starts in a network namespace.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "sys/process/invoking_user.h"

namespace viaduct::sys {

// The error of a program that cannot be executed: the program does not exist, this user may not
// execute it, or the file is not an executable.
class ExecuteError : public EnvironmentError {
 public:
  ExecuteError(const std::string& message, int error_number)
      : EnvironmentError(message), error_number_(error_number) {}
  int error_number() const { return error_number_; }  // errno of execve(2)
  // Returns the exit status that a shell has for this error (POSIX.1-2017, XCU 2.8.2).
  int shell_status() const;

 private:
  int error_number_;
};

// The file that lists the users whose programs may gain privileges in namespaces of Viaduct: one
// name per line.
inline constexpr char kNewPrivilegesFile[] = "/etc/viaduct/new-privileges";

struct ProgramOptions {
  std::vector<std::string> arguments;              // arguments[0] is searched in PATH
  std::map<std::string, std::string> environment;  // all environment variables
  std::string working_directory;                   // empty: the caller's working directory
  // The descriptors of standard input, output and error; -1: /dev/null. The caller keeps owning the
  // descriptors.
  int standard_input = -1, standard_output = -1, standard_error = -1;
  // Whether standard input is a terminal (the slave of a pty) that belongs to no session yet, and
  // becomes the controlling terminal of the program's session.
  bool terminal = false;
  mode_t file_mask = 022;  // the umask(2) of the program
  int asker = -1;          // see LaunchOptions::asker
  // Whether set-uid bits and capabilities of files count for programs that this program executes.
  // May be true only if root has allowed it for the user (kNewPrivilegesFile), because the user
  // chooses a namespace's addresses, and sudoers(5) grants rights to hosts by their addresses.
  // Root's programs have all privileges.
  bool new_privileges = false;
};

// Forks and executes the program in the network namespace, as `owner`, in a separate session, with
// the caller's resource limits. Returns its pid, which is also its process group, once the program
// runs. The program inherits only the three standard descriptors. `where` names the namespace in
// messages. `enter` is called in the new process before the process becomes `owner`. Throws
// ExecuteError, EnvironmentError if the owner may not have new privileges, or Error if the program
// cannot be started for another reason.
int StartProgram(const ProgramOptions& options, int namespace_fd, const std::string& where,
                 const Identity& owner, const std::function<void()>& enter = {});

}  // namespace viaduct::sys
