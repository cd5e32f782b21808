#include "base/wait_status.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cstring>

namespace viaduct {

std::string DescribeSignal(int signal) {
  return fmt::format("signal {} ({})", signal, strsignal(signal));
}

std::string DescribeEnding(int status) {
  if (WIFSIGNALED(status)) return "was killed by " + DescribeSignal(WTERMSIG(status));
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

int ShellStatus(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool EndedWith(int status, int exit_status) {
  return WIFEXITED(status) && WEXITSTATUS(status) == exit_status;
}

}  // namespace viaduct
