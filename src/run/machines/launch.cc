#include "run/machines/launch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "base/clock.h"
#include "base/error.h"
#include "base/text/json_text.h"
#include "base/text/terminal_text.h"
#include "run/machines/messages.h"
#include "run/simulator/environment.h"
#include "sys/descriptors.h"
#include "sys/event_loop.h"
#include "sys/process/child.h"
#include "sys/process/find_program.h"
#include "sys/process/launch.h"

namespace viaduct::machines {
namespace {

using nlohmann::json;

// The time within which mpirun must end all processes after SIGTERM.
constexpr Duration kEndTimeout = Duration::Seconds(20);
// The time within which mpirun must end after the results, or an error, have arrived.
constexpr Duration kAnsweredTimeout = Duration::Seconds(20);
// The time within which the programs of all machines must have connected.
constexpr Duration kStartTimeout = Duration::Seconds(120);

// A shell command that runs on each machine: it reports a missing program more briefly than mpirun
// does.
constexpr char kStarter[] =
    R"(for f in "$0" "$1"; do [ -x "$f" ] || { echo "viaduct: machine $(hostname): $f is missing; )"
    R"(install Viaduct there, at the same path as here" >&2; exit 3; }; done; exec "$0" "$@")";

std::string HostList(const scenario::Scenario& scenario) {
  std::string list;
  for (const scenario::Machine& machine : scenario.machines) {
    if (machine.login.empty() && machine.address.family == wire::Family::kIpv6) {
      throw UsageError(
          fmt::format("{}: machines.{}.login: missing; mpirun does not accept an IPv6 "
                      "address ({}), only a name",
                      scenario.file, machine.name, machine.address.ToString()));
    }
    list += fmt::format("{}{}:1", list.empty() ? "" : ",",
                        machine.login.empty() ? machine.address.ToString() : machine.login);
  }
  return list;
}

std::vector<std::string> CommandFor(const scenario::Scenario& scenario) {
#ifndef VIADUCT_HAS_MPI
  throw EnvironmentError(
      scenario.file +
      ": machines: this viaduct was built without Open MPI (libopenmpi-dev), which labs on several "
      "machines need");
#endif
  if (sys::FindProgram("mpirun").empty()) {
    throw EnvironmentError(
        "a lab on several machines needs Open MPI's mpirun; run apt-get install openmpi-bin on all "
        "machines");
  }
  std::vector<std::string> words = {"mpirun"};
  if (geteuid() == 0) words.emplace_back("--allow-run-as-root");
  words.insert(words.end(), {"-np", std::to_string(scenario.machines.size()), "-H",
                             HostList(scenario), "--map-by", "node", "--bind-to", "none"});
  // Sets options for ranks on different machines, which wait for each other most of the time. With
  // these options the loss of a machine is detected within some 10 s.
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, const char*>>{
           {"pml", "ob1"},
           {"btl", "tcp,self"},
           {"mpi_yield_when_idle", "1"},
           {"oob_tcp_keepalive_time", "5"},
           {"oob_tcp_keepalive_intvl", "2"},
           {"oob_tcp_keepalive_probes", "3"}}) {
    words.insert(words.end(), {"--mca", name, value});
  }
  words.insert(words.end(), {"/bin/sh", "-c", kStarter, sys::FindCompanion("viaduct-mpi").string(),
                             sys::OwnProgram().string(), "rank"});
  return words;
}

// Returns a summary of mpirun's messages: the first lines that are not empty.
std::string Condensed(const std::string& words) {
  std::string text;
  std::istringstream lines(words);
  int count = 0;
  for (std::string line; std::getline(lines, line) && count < 4;) {
    const size_t begin = line.find_first_not_of(" \t-");
    if (begin == std::string::npos) continue;
    text += (text.empty() ? "" : " ") + line.substr(begin);
    ++count;
  }
  return text.empty() ? "no output" : text;
}

// Returns the machine that mpirun's messages name, and what has happened to it; empty if the
// messages name no machine. mpirun names a machine by its rank, or by its address or login in the
// machine list.
std::string MachineIn(const std::string& words, const scenario::Scenario& scenario) {
  std::smatch found;
  static const std::regex kRank(R"(process rank (\d+) )");
  if (std::regex_search(words, found, kRank)) {
    const auto rank = static_cast<size_t>(std::atoi(found[1].str().c_str()));
    if (rank < scenario.machines.size()) {
      return fmt::format("machine {}: {}", scenario.machines[rank].name, kEnded);
    }
  }
  static const std::regex kNode(R"(Remote daemon: \S+ on node (\S+))");
  if (!std::regex_search(words, found, kNode)) return "";
  for (const scenario::Machine& machine : scenario.machines) {
    const std::string login = machine.login.substr(machine.login.find('@') + 1);
    if (found[1] == machine.address.ToString() || found[1] == login) {
      return fmt::format("machine {}: the connection was lost", machine.name);
    }
  }
  return "";
}

// Whether Open MPI wrote the line, such as its backtraces: "[machine:1234] ...".
bool IsOfOpenMpi(const std::string& line) {
  static const std::regex kTagged(R"(^\[[^\]\s]+:\d+\] )");
  return std::regex_search(line, kTagged);
}

class Launcher {
 public:
  Launcher(const scenario::Scenario& scenario, const LaunchRequest& request)
      : scenario_(scenario), request_(request) {}

  result::RunResult Run() {
    Start();
    try {
      AwaitAnswer();
    } catch (const sys::Interrupted&) {
      EndMpirun();
      throw;
    }
    process_.WaitFor(kEndTimeout);
    return Results();
  }

 private:
  bool HasEnded() const { return !output_ && !errors_; }

  void AwaitAnswer() {
    loop_.Run([this] { return HasEnded() || is_under_way_ || answer_.ends_with('\n'); },
              MonotonicClock::Now() + kStartTimeout);
    if (!HasEnded() && !is_under_way_ && answer_.empty()) {
      EndMpirun();
      throw Error(
          fmt::format("{}: machines: not all machines connected within {} s: {}", scenario_.file,
                      kStartTimeout.ToSeconds(), Condensed(mpiruns_words_ + said_)),
          ExitStatus::kEnvironment);
    }
    loop_.Run([this] { return HasEnded() || answer_.ends_with('\n'); });
    // Ends mpirun after a timeout, because mpirun waits for its processes on all machines, one of
    // which may be frozen.
    loop_.Run([this] { return HasEnded(); }, MonotonicClock::Now() + kAnsweredTimeout);
    if (!HasEnded()) EndMpirun(kAnsweredTimeout);
  }

  void EndMpirun(Duration timeout = kEndTimeout) {
    loop_.IgnoreSignals();
    process_.Signal(SIGTERM);
    loop_.Run([this] { return HasEnded(); }, MonotonicClock::Now() + timeout);
    if (!HasEnded()) process_.Signal(SIGKILL);
  }

  void Start() {
    to_write_ = Encode(Given{.version = run::Version(),
                             .text = scenario::Print(scenario_),
                             .file = scenario_.file,
                             .hash = scenario_.hash,
                             .quiet = request_.quiet,
                             .directory = request_.directory,
                             .command = request_.command_line});
    sys::Pipe input = sys::MakePipe(), output = sys::MakePipe(), errors = sys::MakePipe();
    sys::LaunchOptions options;
    options.words = CommandFor(scenario_);
    options.standard = {input.read.get(), output.write.get(), errors.write.get()};
    options.group = sys::LaunchOptions::Group::kOwn;
    options.default_signals = true;
    options.death_signal = SIGTERM;
    process_ = sys::Child(sys::Launch(options));
    output_ = std::move(output.read);
    errors_ = std::move(errors.read);
    input_ = std::move(input.write);
    for (const UniqueFd* fd : {&output_, &errors_, &input_}) sys::SetNonBlocking(fd->get());
    loop_.Watch(output_.get(), [this] { Read(output_, answer_); });
    loop_.Watch(errors_.get(), [this] {
      Read(errors_, said_);
      ShowLines();
    });
    loop_.Watch(
        input_.get(), [this] { WriteInput(); }, POLLOUT);
  }

  void WriteInput() {
    const ssize_t written = write(input_.get(), to_write_.data(), to_write_.size());
    if (written > 0) to_write_.erase(0, written);
    if (!to_write_.empty() && (written >= 0 || errno == EAGAIN || errno == EINTR)) return;
    loop_.Forget(input_.get());
    input_.reset();
  }

  void Read(UniqueFd& from, std::string& into) {
    std::array<char, 65536> buffer;
    const ssize_t got = read(from.get(), buffer.data(), buffer.size());
    if (got > 0) into.append(buffer.data(), got);
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) return;
    loop_.Forget(from.get());
    from.reset();
  }

  // Shows the output of the machines. Keeps errors and mpirun's messages, which are shown only at
  // the end, if there is no better explanation of a failure.
  void ShowLines() {
    for (size_t end = 0; (end = said_.find('\n')) != std::string::npos;) {
      const std::string line = said_.substr(0, end);
      said_.erase(0, end + 1);
      if (line.starts_with("----------")) {
        in_mpiruns_words_ = !in_mpiruns_words_;
      } else if (line.starts_with("viaduct: ")) {
        if (own_words_.empty()) own_words_ = line.substr(sizeof "viaduct: " - 1);
      } else if (line == kAllThere) {
        is_under_way_ = true;
      } else if (in_mpiruns_words_ || IsOfOpenMpi(line) || !is_under_way_ ||
                 line.starts_with("mpirun")) {
        mpiruns_words_ += line + "\n";
        if (!in_mpiruns_words_ && !line.starts_with("mpirun")) others_words_ += line + "\n";
      } else if (!request_.quiet) {
        std::fprintf(stderr, "%s\n", TerminalText(line).c_str());
      }
    }
  }

  result::RunResult Results() {
    const json answer = json::parse(answer_, nullptr, false);
    if (answer.is_object() && answer.contains("result")) {
      return answer["result"].get<result::RunResult>();
    }
    if (answer.is_object() && answer.contains("error")) {
      const int status = answer.value("status", 1);
      std::string error = answer["error"];
      // Adds messages, such as those of the dynamic linker, if the program could not even start.
      if (!is_under_way_ && error.ends_with(kEnded) && !others_words_.empty()) {
        error += ": " + Condensed(others_words_);
      }
      const std::string machine = MachineIn(mpiruns_words_ + said_, scenario_);
      if (is_under_way_ && error.find(kConnectionEnded) != std::string::npos && !machine.empty()) {
        error = machine + "; the run is VOID";
      }
      throw Error(error, status >= 1 && status <= 4 ? static_cast<ExitStatus>(status)
                                                    : ExitStatus::kFailure);
    }
    const ExitStatus status = is_under_way_ ? ExitStatus::kVoid : ExitStatus::kEnvironment;
    const char* const verdict = is_under_way_ ? "; the run is VOID" : "";
    const std::string machine = MachineIn(mpiruns_words_ + said_, scenario_);
    if (is_under_way_ && !machine.empty() &&
        (own_words_.empty() || own_words_.find(kConnectionEnded) != std::string::npos)) {
      throw Error(machine + verdict, status);
    }
    if (!own_words_.empty()) throw Error(own_words_, status);
    if (is_under_way_) {
      // Leaves out mpirun's messages, because they always describe a failed start, even if another
      // step has failed.
      throw Error(
          fmt::format(
              "a machine, or the viaduct processes on a machine, ended without an error message{}",
              verdict),
          status);
    }
    throw Error(fmt::format("mpirun exited without results: {}{}",
                            Condensed(mpiruns_words_ + said_), verdict),
                status);
  }

  const scenario::Scenario& scenario_;
  const LaunchRequest& request_;
  sys::EventLoop loop_;
  sys::Child process_;
  UniqueFd input_, output_, errors_;
  std::string to_write_, answer_, said_, own_words_, mpiruns_words_, others_words_;
  bool in_mpiruns_words_ = false;  // whether lines are between mpirun's two lines of dashes
  bool is_under_way_ = false;      // whether all machines have connected
};

}  // namespace

result::RunResult RunOnMachines(const scenario::Scenario& scenario, const LaunchRequest& request) {
  return Launcher(scenario, request).Run();
}

}  // namespace viaduct::machines
