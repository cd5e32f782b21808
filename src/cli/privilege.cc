#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "cli/command.h"
#include "run/environment.h"

namespace viaduct::cli {
namespace {

// Whether sudo works here without a password.
bool SudoWorks() {
  if (run::FindProgram("sudo").empty()) return false;
  const pid_t child = SystemCall("fork", fork());
  if (child == 0) {
    const int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
    execlp("sudo", "sudo", "-n", "true", nullptr);
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

void NeedRoot(const Invocation& invocation) {
  if (geteuid() == 0 || std::getenv("VIADUCT_BROKER_FD")) return;
  if (!SudoWorks()) {
    throw EnvironmentError(
        "this needs root for namespaces, links and routes, and sudo gives it not without a "
        "password: sudo viaduct ..., or --mode simulate");
  }
  // PATH, because the user's own programs are what a scenario names; the rest is ours.
  std::vector<std::string> words = {
      "sudo", "-n", "--preserve-env=PATH,VIADUCT_SIM,VIADUCT_NS3,VIADUCT_SIM_LIBRARIES", "--",
      std::filesystem::read_symlink("/proc/self/exe")};
  words.insert(words.end(), invocation.words.begin() + 1, invocation.words.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp("sudo", arguments.data());
  throw SystemError("execute sudo", errno);
}

}  // namespace viaduct::cli
