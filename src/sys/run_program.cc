#include "sys/run_program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/error.h"
#include "base/fd.h"

extern char** environ;

namespace viaduct::sys {
namespace {

// A file in memory, read from its start: no pipe that could fill up.
UniqueFd Holding(const std::string& text) {
  UniqueFd file(SystemCall("memfd_create", memfd_create("input", MFD_CLOEXEC)));
  SystemCall("write", write(file.get(), text.data(), text.size()));
  SystemCall("lseek", static_cast<int>(lseek(file.get(), 0, SEEK_SET)));
  return file;
}

// Starts it with the signals of a fresh process.
int Spawn(const std::vector<std::string>& words, int input, int output, pid_t* pid) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const int error = posix_spawnp(pid, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

std::string ReadAll(int fd) {
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<size_t>(got));
  }
}

}  // namespace

ProgramResult RunProgram(const std::vector<std::string>& words, const std::string& input) {
  const UniqueFd input_file = Holding(input);
  int ends[2];
  SystemCall("pipe", pipe2(ends, O_CLOEXEC));
  const UniqueFd output(ends[0]);
  UniqueFd program_output(ends[1]);
  pid_t pid = 0;
  const int error = Spawn(words, input_file.get(), program_output.get(), &pid);
  if (error == ENOENT) return {127, "no such program in PATH"};
  if (error != 0) throw SystemError("execute " + words[0], error);
  program_output.reset();
  ProgramResult result;
  result.output = ReadAll(output.get());
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace viaduct::sys
