#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/error.h"
#include "cli/command.h"
#include "sys/child.h"
#include "sys/find_program.h"

namespace viaduct::cli {
namespace {

// Whether sudo works here without a password.
bool SudoWorks() { return sys::RunProgram({"sudo", "-n", "true"}).status == 0; }

}  // namespace

void NeedRoot(const Invocation& invocation) {
  if (geteuid() == 0 || std::getenv("VIADUCT_BROKER_FD")) return;
  if (!SudoWorks()) {
    throw EnvironmentError(
        "this needs root for namespaces, links and routes, and sudo asks for a password: run sudo "
        "viaduct ..., or use --mode simulate");
  }
  // A scenario may name programs that are only in the user's PATH; the other variables are
  // Viaduct's own.
  std::vector<std::string> words = {
      "sudo", "-n",
      "--preserve-env=PATH,VIADUCT_SIM,VIADUCT_NS3,VIADUCT_SIM_LIBRARIES,VIADUCT_LIBEXEC", "--",
      sys::OwnProgram()};
  words.insert(words.end(), invocation.words.begin() + 1, invocation.words.end());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp("sudo", arguments.data());
  throw SystemError("execute sudo", errno);
}

}  // namespace viaduct::cli
