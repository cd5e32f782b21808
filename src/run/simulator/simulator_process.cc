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
#include "base/units.h"
#include "base/wait_status.h"
#include "guest/shell/paused.h"
#include "sys/descriptors.h"
#include "sys/process/find_program.h"
#include "sys/process/invoking_user.h"
#include "sys/process/launch.h"

namespace viaduct::run {
namespace {

// The number of lines, the last of the simulator's output, that are kept for error messages.
constexpr size_t kKeptLines = 16;
constexpr size_t kMaxLine = 4096;
// The maximum length of a message, in bytes. The report on ten thousand flows has a tenth of this.
constexpr size_t kMaxMessage = 1 << 30;

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
  throw EnvironmentError(fmt::format("VIADUCT_SIM: {} is not an executable program", given));
}

SimulatorProcess::SimulatorProcess(const SimulatorStart& start) {
  auto [control, theirs] = sys::MakeSocketPair(SOCK_STREAM);
  sys::Pipe output = sys::MakePipe();
  const UniqueFd file = MemoryFile("scenario.yaml", scenario::Print(start.scenario));
  sys::LaunchOptions options;
  options.words = {start.program,
                   "--scenario",
                   fmt::format("/proc/self/fd/{}", file.get()),
                   "--control",
                   std::to_string(theirs.get()),
                   "--captures",
                   start.captures};
  for (const Duration at : start.pauses) {
    options.words.insert(options.words.end(), {"--pause-at", FormatDuration(at)});
  }
  std::vector<std::string>& words = options.words;
  if (start.lab != LabUse::kOfRun) words.insert(words.end(), {"--specs", "live"});
  if (start.lab == LabUse::kAdopt) words.insert(words.end(), {"--lab", "adopt"});
  const int inner_socket = start.hub ? start.hub->inner_socket : -1;
  if (start.hub) words.insert(words.end(), {"--hub", start.hub->port});
  if (inner_socket >= 0) {
    words.insert(words.end(), {"--inner-socket", std::to_string(inner_socket)});
  }
  if (!start.machine.empty()) words.insert(words.end(), {"--host", start.machine});
  options.folder = start.folder;
  options.environment = EnvironmentWith(start.broker.get());
  options.standard = {-1, output.write.get(), output.write.get()};
  options.inherited = {theirs.get(), file.get()};
  if (start.broker) options.inherited.push_back(start.broker.get());
  if (inner_socket >= 0) options.inherited.push_back(inner_socket);
  // Starts the simulator in a separate process group, so that Ctrl-C only reaches the command,
  // which then stops the simulator in an orderly way.
  options.group = sys::LaunchOptions::Group::kOwn;
  options.death_signal = SIGKILL;
  // Forbids new privileges, because the simulator starts guests, whose programs are unknown and
  // must not use sudo.
  options.prepare = sys::ForbidNewPrivileges;
  process_ = sys::Child(sys::Launch(options));
  control_.emplace(std::move(control), kMaxMessage);
  output_ = std::move(output.read);
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
    // Waiting with a limit needs a descriptor, and none is available: ~Child kills the simulator.
  }
  const int simulator = process_.pid();
  process_ = sys::Child();  // kills the simulator and waits for its end
  try {
    guest::RemoveDeadPaused(simulator);  // not done by a simulator killed at its pause
  } catch (const Error&) {
    // Ignores the error: `viaduct clean` removes the record.
  }
}

void SimulatorProcess::Tell(const scenario::SimulatorCommand& command) {
  control_->Send(scenario::Encode(command));
}

void SimulatorProcess::Kill() { process_.Signal(SIGKILL); }

bool SimulatorProcess::ReadOutput() {
  std::array<char, 65536> buffer;
  const ssize_t got = read(output_.get(), buffer.data(), buffer.size());
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  for (const char c : std::string_view(buffer.data(), got)) {
    if (c != '\n') line_ += c;
    if (c != '\n' && line_.size() < kMaxLine) continue;
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

std::optional<scenario::SimulatorEvent> SimulatorProcess::Receive() {
  if (ended_) return std::nullopt;
  if (const auto line = control_->Receive()) {
    scenario::SimulatorEvent event = scenario::DecodeEvent(*line);
    if (const auto* failed = std::get_if<scenario::SimulatorFailed>(&event)) {
      const bool is_known = failed->status >= 1 && failed->status <= 4;
      throw Error(failed->message,
                  is_known ? static_cast<ExitStatus>(failed->status) : ExitStatus::kFailure);
    }
    if (std::holds_alternative<scenario::SimulatorDone>(event)) reported_ = true;
    return event;
  }
  if (!control_->Ended()) return std::nullopt;
  if (!reported_) ThrowDeath();
  if (const int status = process_.Wait(); status != 0) {
    // Throws although the report is complete: a crash at the simulator's end must not be hidden.
    throw Error(fmt::format("the simulator crashed at its exit (wait status {})", status));
  }
  ended_ = true;
  return std::nullopt;
}

}  // namespace viaduct::run
