#include "run/simulator_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"
#include "run/environment.h"

namespace viaduct::run {
namespace {

// What is kept of the simulator's output: enough for its last words.
constexpr size_t kKeptLines = 16;
constexpr size_t kLongestLine = 4096;
constexpr size_t kLongestMessage = 64 << 20;

UniqueFd WriteToMemory(const std::string& text) {
  UniqueFd file(SystemCall("memfd_create", memfd_create("scenario.yaml", MFD_CLOEXEC)));
  for (size_t done = 0; done < text.size();) {
    done += SystemCall("write", write(file.get(), text.data() + done, text.size() - done));
  }
  return file;
}

void KeepAcrossExec(int fd) { fcntl(fd, F_SETFD, 0); }

// Runs in the child, between fork and exec: nothing that allocates.
[[noreturn]] void Become(char* const* argv, char* const* environment, int output, pid_t parent) {
  // Ctrl-C is for the command, which then stops the simulator in good order.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(output, STDERR_FILENO);
  dup2(output, STDOUT_FILENO);
  execve(argv[0], argv, environment);
  constexpr char kMessage[] = "cannot be executed\n";
  if (write(STDERR_FILENO, kMessage, sizeof kMessage - 1) < 0) _exit(126);
  _exit(127);
}

std::vector<std::string> EnvironmentWith(int broker) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable; ++variable) {
    if (std::strncmp(*variable, "VIADUCT_BROKER_FD=", 18) != 0) variables.emplace_back(*variable);
  }
  if (broker >= 0) variables.push_back(fmt::format("VIADUCT_BROKER_FD={}", broker));
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string LastWords(const std::deque<std::string>& lines) {
  std::string words;
  size_t count = 0;
  for (auto line = lines.rbegin(); line != lines.rend() && count < 3; ++line) {
    if (line->find_first_not_of(' ') == std::string::npos) continue;
    words = ++count == 1 ? *line : *line + "|" + words;
  }
  return words;
}

}  // namespace

std::string FindSimulator() {
  const char* given = std::getenv("VIADUCT_SIM");
  if (!given) return FindOwnProgram("viaduct-sim");
  if (access(given, X_OK) == 0) return given;
  throw EnvironmentError(fmt::format("VIADUCT_SIM: {} is not a program", given));
}

SimulatorProcess::SimulatorProcess(const std::string& program, const scenario::Scenario& scenario,
                                   UniqueFd broker, const std::string& captures,
                                   const std::vector<Duration>& pauses) {
  int pair[2], output_pipe[2];
  SystemCall("socketpair", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
  control_.reset(pair[0]);
  const UniqueFd theirs(pair[1]);
  SystemCall("pipe", pipe2(output_pipe, O_CLOEXEC));
  output_.reset(output_pipe[0]);
  const UniqueFd their_output(output_pipe[1]);
  const UniqueFd file = WriteToMemory(scenario::Print(scenario));

  std::vector<std::string> arguments = {program,
                                        "--scenario",
                                        fmt::format("/proc/self/fd/{}", file.get()),
                                        "--control",
                                        std::to_string(theirs.get()),
                                        "--captures",
                                        captures};
  for (const Duration at : pauses) {
    arguments.insert(arguments.end(), {"--pause-at", FormatDuration(at)});
  }
  std::vector<std::string> variables = EnvironmentWith(broker.get());
  const std::vector<char*> argv = Pointers(arguments), environment = Pointers(variables);
  const pid_t parent = getpid();
  pid_ = SystemCall("fork", fork());
  if (pid_ == 0) {
    for (const int fd : {theirs.get(), file.get(), broker.get()}) KeepAcrossExec(fd);
    Become(argv.data(), environment.data(), their_output.get(), parent);
  }
  fcntl(control_.get(), F_SETFL, O_NONBLOCK);
  fcntl(output_.get(), F_SETFL, O_NONBLOCK);
}

SimulatorProcess::~SimulatorProcess() {
  if (pid_ < 0) return;
  control_.reset();
  const Instant begin = MonotonicClock::Now();
  for (const auto& [patience, signal] :
       {std::pair(Duration::Milliseconds(500), SIGTERM), {Duration::Seconds(2), SIGKILL}}) {
    while (MonotonicClock::Now() - begin < patience) {
      if (waitpid(pid_, nullptr, WNOHANG) != 0) return;
      poll(nullptr, 0, 5);
    }
    kill(pid_, signal);
  }
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void SimulatorProcess::Send(std::string_view line) {
  // A simulator that has just ended is found out about when its messages are read.
  if (send(control_.get(), line.data(), line.size(), MSG_NOSIGNAL) < 0) return;
}

void SimulatorProcess::Stop() { Send("{\"command\":\"stop\"}\n"); }
void SimulatorProcess::Resume() { Send("{\"command\":\"resume\"}\n"); }

bool SimulatorProcess::ReadOutput() {
  std::array<char, 65536> buffer;
  const ssize_t got = read(output_.get(), buffer.data(), buffer.size());
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  for (const char c : std::string_view(buffer.data(), got)) {
    if (c != '\n') line_ += c;
    if (c != '\n' && line_.size() < kLongestLine) continue;
    last_lines_.push_back(line_);
    if (last_lines_.size() > kKeptLines) last_lines_.pop_front();
    if (print_) print_(line_);
    line_.clear();
  }
  return got > 0;
}

int SimulatorProcess::Reap() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return status;
}

void SimulatorProcess::ThrowDeath() {
  const int status = Reap();
  for (pollfd ready{output_.get(), POLLIN, 0}; poll(&ready, 1, 0) > 0 && ReadOutput();) {
  }
  if (!line_.empty()) last_lines_.push_back(line_);
  const std::string how = WIFSIGNALED(status)
                              ? fmt::format("was killed by signal {} ({})", WTERMSIG(status),
                                            strsignal(WTERMSIG(status)))
                              : fmt::format("ended with status {}", WEXITSTATUS(status));
  const std::string words = LastWords(last_lines_);
  throw Error(
      fmt::format("the simulator {}{}", how, words.empty() ? "" : "; its last words: " + words));
}

std::optional<nlohmann::json> SimulatorProcess::TakeLine() {
  const size_t end = received_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  const std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  nlohmann::json message = nlohmann::json::parse(line, nullptr, false);
  if (!message.is_object() || !message.contains("event")) {
    throw Error("the simulator sent a malformed message: " + line.substr(0, 200));
  }
  if (message["event"] == "error") {
    const int status = message.value("status", 1);
    throw Error(
        message.value("message", "the simulator failed"),
        status >= 1 && status <= 4 ? static_cast<ExitStatus>(status) : ExitStatus::kFailure);
  }
  if (message["event"] == "report") reported_ = true;
  return message;
}

std::optional<nlohmann::json> SimulatorProcess::Receive() {
  if (ended_) return std::nullopt;
  std::array<char, 65536> buffer;
  while (!end_of_file_ && received_.size() < kLongestMessage) {
    const ssize_t got = read(control_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (got <= 0) end_of_file_ = true;  // also ECONNRESET
    if (got > 0) received_.append(buffer.data(), got);
  }
  if (auto message = TakeLine()) return message;
  if (!end_of_file_) return std::nullopt;
  if (!reported_) ThrowDeath();
  if (const int status = Reap(); status != 0) {
    // It had said all it had to say; still, a crash on the way out is not hidden.
    pid_ = -1;
    throw Error(fmt::format("the simulator crashed while it ended (wait status {})", status));
  }
  ended_ = true;
  return std::nullopt;
}

}  // namespace viaduct::run
