#include "guest/image/tool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/fd.h"

namespace viaduct::guest {
namespace {

constexpr int kCannotExecute = 127;

// In the child: never returns.
[[noreturn]] void Execute(const std::vector<std::string>& words, const ToolOptions& options,
                          int output) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(null, 0);
  dup2(output, 1);
  dup2(output, 2);
  setenv("LC_ALL", "C", 1);
  for (const std::string& variable : options.environment) {
    const size_t equals = variable.find('=');
    if (equals == std::string::npos)
      unsetenv(variable.c_str());
    else
      setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1, 1);
  }
  if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) _exit(kCannotExecute);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(kCannotExecute);
}

// What a tool prints, handed on line by line and to the log.
class Output {
 public:
  explicit Output(const ToolOptions& options) : options_(options) {
    if (!options.log.empty()) log_.open(options.log, std::ios::app);
  }
  void Take(std::string_view text) {
    if (log_.is_open()) log_ << text << std::flush;
    if (!options_.line) return;
    partial_ += text;
    size_t begin = 0;
    for (size_t end; (end = partial_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      options_.line(std::string_view(partial_).substr(begin, end - begin));
    }
    partial_.erase(0, begin);
  }
  void Finish() {
    if (options_.line && !partial_.empty()) options_.line(partial_);
  }

 private:
  const ToolOptions& options_;
  std::ofstream log_;
  std::string partial_;
};

// A child of ours: killed with its whole group unless it was waited for.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) { setpgid(pid, pid); }
  ~Child() {
    if (pid_ < 0) return;
    kill(-pid_, SIGKILL);
    Wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  int Wait() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_;
};

// Reads until the last holder of the other end has closed it.
void Drain(int pipe, int cancel_fd, Output& output) {
  std::array<char, 65536> buffer;
  for (;;) {
    pollfd polled[] = {{pipe, POLLIN, 0}, {cancel_fd, POLLIN, 0}};
    if (poll(polled, 2, -1) < 0) {
      if (errno == EINTR) continue;
      throw SystemError("poll", errno);
    }
    if (polled[1].revents != 0) throw ToolCancelled();
    if (polled[0].revents == 0) continue;
    const ssize_t size = read(pipe, buffer.data(), buffer.size());
    if (size == 0) return;
    if (size > 0) output.Take({buffer.data(), static_cast<size_t>(size)});
  }
}

}  // namespace

int RunTool(const std::vector<std::string>& words, const ToolOptions& options) {
  int ends[2];
  SystemCall("pipe2", pipe2(ends, O_CLOEXEC));
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const pid_t pid = SystemCall("fork", fork());
  if (pid == 0) Execute(words, options, write_end.get());
  Child child(pid);
  write_end.reset();
  Output output(options);
  Drain(read_end.get(), options.cancel_fd, output);
  output.Finish();
  const int status = child.Wait();
  if (status == kCannotExecute && !HaveTool(words[0])) {
    throw EnvironmentError(fmt::format("no program '{}' on this machine", words[0]));
  }
  return status;
}

std::string ToolOutput(const std::vector<std::string>& words, const ToolOptions& options) {
  std::string text, last;
  ToolOptions collecting = options;
  collecting.line = [&](std::string_view line) {
    text.append(line).push_back('\n');
    if (!line.empty()) last = line;
  };
  const int status = RunTool(words, collecting);
  if (status != 0) throw Error(fmt::format("{}: {} (status {})", words[0], last, status));
  return text;
}

bool HaveTool(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((folder + "/" + name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace viaduct::guest
