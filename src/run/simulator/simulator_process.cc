#include "run/simulator/simulator_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/text/json_text.h"
#include "base/units.h"
#include "base/wait_status.h"
#include "guest/shell/paused.h"
#include "sys/descriptors.h"
#include "sys/process/find_program.h"
#include "sys/process/invoking_user.h"
#include "sys/process/launch.h"

namespace viaduct::run {
namespace {

// How many of the simulator's last lines are kept for error messages.
constexpr size_t kKeptLines = 16;
constexpr size_t kLongestLine = 4096;
constexpr size_t kLongestMessage = 64 << 20;
constexpr std::string_view kEvents[] = {
    "lab",     "progress", "passages", "converged",  "report", "error",
    "flow",    "output",   "link",     "program",    "paused", "note",
    "resumed", "hub",      "claimed",  "statistics", "timing", "difference"};

sys::Environment EnvironmentWith(int broker) {
  sys::Environment environment = sys::OwnEnvironment();
  sys::UnsetVariable(environment, "VIADUCT_BROKER_FD");
  if (broker >= 0) sys::SetVariable(environment, "VIADUCT_BROKER_FD", std::to_string(broker));
  return environment;
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
  if (!given) return sys::FindCompanion("viaduct-sim");
  if (access(given, X_OK) == 0) return std::filesystem::absolute(given).string();
  throw EnvironmentError(fmt::format("VIADUCT_SIM: {} is not a program", given));
}

SimulatorProcess::SimulatorProcess(const std::string& program, const scenario::Scenario& scenario,
                                   UniqueFd broker, const std::string& captures,
                                   const std::vector<Duration>& pauses, LabUse lab,
                                   const std::string& folder, const HubPlace& hub,
                                   const std::string& host) {
  auto [control, theirs] = sys::MakeSocketPair(SOCK_STREAM);
  sys::Pipe output = sys::MakePipe();
  const UniqueFd file = MemoryFile("scenario.yaml", scenario::Print(scenario));
  sys::LaunchOptions options;
  options.words = {program,
                   "--scenario",
                   fmt::format("/proc/self/fd/{}", file.get()),
                   "--control",
                   std::to_string(theirs.get()),
                   "--captures",
                   captures};
  for (const Duration at : pauses) {
    options.words.insert(options.words.end(), {"--pause-at", FormatDuration(at)});
  }
  if (lab != LabUse::kOfRun) options.words.insert(options.words.end(), {"--specs", "live"});
  if (lab == LabUse::kAdopt) options.words.insert(options.words.end(), {"--lab", "adopt"});
  if (!hub.port.empty()) options.words.insert(options.words.end(), {"--hub", hub.port});
  if (hub.inner_socket >= 0) {
    options.words.insert(options.words.end(), {"--inner-socket", std::to_string(hub.inner_socket)});
  }
  if (!host.empty()) options.words.insert(options.words.end(), {"--host", host});
  options.folder = folder;
  options.environment = EnvironmentWith(broker.get());
  options.standard = {-1, output.write.get(), output.write.get()};
  options.inherited = {theirs.get(), file.get()};
  if (broker) options.inherited.push_back(broker.get());
  if (hub.inner_socket >= 0) options.inherited.push_back(hub.inner_socket);
  // Ctrl-C must only reach the command, which then stops the simulator in an orderly way.
  options.group = sys::LaunchOptions::Group::kOwn;
  options.death_signal = SIGKILL;
  // It starts guests, whose programs nobody knows; sudo is not for them.
  options.prepare = sys::ForbidNewPrivileges;
  process_ = sys::Child(sys::Launch(options));
  control_ = std::move(control);
  output_ = std::move(output.read);
  sys::SetNonBlocking(control_.get());
  sys::SetNonBlocking(output_.get());
}

SimulatorProcess::~SimulatorProcess() {
  if (process_.pid() < 0) return;
  control_.reset();
  try {
    if (!process_.WaitFor(Duration::Milliseconds(500))) {
      process_.Signal(SIGTERM);
      process_.WaitFor(Duration::Milliseconds(1500));
    }
  } catch (const Error&) {
    // It cannot be waited for with a limit (no descriptor is left): ~Child kills it.
  }
  const int simulator = process_.pid();
  process_ = sys::Child();  // killed and waited for
  try {
    guest::RemoveDeadPaused(simulator);  // killed at its pause, it did not do so itself
  } catch (const Error&) {
    // `viaduct clean` removes it.
  }
}

short SimulatorProcess::Events() const {
  return static_cast<short>(unsent_.empty() ? POLLIN : POLLIN | POLLOUT);
}

void SimulatorProcess::Send(std::string_view line) {
  unsent_ += line;
  Flush();
}

void SimulatorProcess::Flush() {
  size_t sent = 0;
  while (sent < unsent_.size()) {
    const ssize_t count =
        send(control_.get(), unsent_.data() + sent, unsent_.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    // The end of the simulator is detected when its messages are read.
    sent = count < 0 ? unsent_.size() : sent + static_cast<size_t>(count);
  }
  unsent_.erase(0, sent);
}

void SimulatorProcess::Tell(const nlohmann::json& command) { Send(JsonText(command) + "\n"); }
void SimulatorProcess::Stop() { Send("{\"command\":\"stop\"}\n"); }
void SimulatorProcess::Kill() { process_.Signal(SIGKILL); }
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

void SimulatorProcess::ThrowDeath() {
  const std::string how = DescribeEnding(process_.Wait());
  for (pollfd ready{output_.get(), POLLIN, 0}; poll(&ready, 1, 0) > 0 && ReadOutput();) {
  }
  if (!line_.empty()) last_lines_.push_back(line_);
  const std::string words = LastWords(last_lines_);
  throw Error(
      fmt::format("the simulator {}{}", how, words.empty() ? "" : "; its last output: " + words));
}

std::optional<nlohmann::json> SimulatorProcess::TakeLine() {
  const size_t end = received_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  const std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  nlohmann::json message = nlohmann::json::parse(line, nullptr, false);
  if (!message.is_object() || !message.contains("event") || !message["event"].is_string()) {
    throw Error("the simulator sent a malformed message: " + line.substr(0, 200));
  }
  const std::string event = message.value("event", "");
  if (std::ranges::find(kEvents, event) == std::end(kEvents)) {
    throw Error(fmt::format(
        "the simulator sent the event '{}', which this command does not know: viaduct and "
        "viaduct-sim are of different versions; install both from one build",
        event.substr(0, 40)));
  }
  if (event == "error") {
    const int status = message.value("status", 1);
    throw Error(
        message.value("message", "the simulator failed"),
        status >= 1 && status <= 4 ? static_cast<ExitStatus>(status) : ExitStatus::kFailure);
  }
  if (event == "report") reported_ = true;
  return message;
}

std::optional<nlohmann::json> SimulatorProcess::Receive() {
  if (ended_) return std::nullopt;
  Flush();
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
  if (const int status = process_.Wait(); status != 0) {
    // Its report is complete, but a crash during its end must not be hidden.
    throw Error(fmt::format("the simulator crashed while it ended (wait status {})", status));
  }
  ended_ = true;
  return std::nullopt;
}

}  // namespace viaduct::run
