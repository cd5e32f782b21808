#include "run/machines/rank.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <exception>

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/text/json_text.h"
#include "base/text/terminal_text.h"
#include "run/machines/conductor.h"
#include "run/machines/merge.h"
#include "run/machines/messages.h"
#include "run/machines/rank_machines.h"
#include "run/run.h"
#include "run/simulator/environment.h"
#include "scenario/machines.h"
#include "sys/event_loop.h"

namespace viaduct::machines {
namespace {

using nlohmann::json;

constexpr int kInput = 3;  // descriptor of rank 0 that the launching command writes to

struct Failure {
  std::string error;
  int status = static_cast<int>(ExitStatus::kFailure);
};

// Calls the function. Returns the error if the function throws one.
template <class F>
std::optional<Failure> FailureOf(F function) {
  try {
    function();
    return std::nullopt;
  } catch (const sys::Interrupted& interrupted) {
    return Failure{interrupted.what(), 128 + interrupted.signal()};
  } catch (const Error& error) {
    return Failure{error.what(), static_cast<int>(error.status())};
  } catch (const std::exception& error) {
    return Failure{error.what()};
  }
}

class Rank {
 public:
  explicit Rank(const std::function<void()>& need_root) : need_root_(need_root), machines_(link_) {}

  int Run() {
    if (link_.rank() == 0) PassOnScenario();
    std::optional<Failure> failure = FailureOf([this] { Work(); });
    if (failure) Report(*failure);
    return Finish(failure);
  }

 private:
  void PassOnScenario() {
    const std::string text = ReadToEnd(kInput, "the scenario");
    for (int rank = 0; rank < link_.size(); ++rank) link_.Send(rank, text);
  }

  void Work() {
    const Given given = machines_.AwaitScenario();
    scenario_ = scenario::Parse(given.text, given.file);
    scenario_.hash = given.hash;
    machines_.Enter(scenario_);
    if (link_.rank() == 0) std::fprintf(stderr, "%s\n", kAllThere);
    part_ = scenario::PartOf(scenario_, machines_.machine());
    need_root_();
    run::RunOptions options;
    options.quiet = link_.rank() != 0 || given.quiet;
    options.command_line = given.command;
    options.directory = given.directory;
    options.machines = &machines_;
    machines_.Send(0, PartDone{run::Execute(part_, options)});
  }

  void Report(const Failure& failure) {
    const std::string machine = machines_.machine();
    std::string error = failure.error;
    if (!machine.empty() && !error.starts_with("machine "))
      error = fmt::format("machine {}: {}", machine, error);
    if (machine.empty() && !error.starts_with("rank ")) {
      std::array<char, 256> name{};
      gethostname(name.data(), name.size() - 1);
      error = fmt::format("rank {} ({}): {}", link_.rank(), name.data(), error);
    }
    (void)FailureOf([&] { machines_.Send(0, Failed{error, failure.status}); });
  }

  int Finish(std::optional<Failure> failure) {
    const auto trouble = FailureOf([this] {
      machines_.Send(0, Bye());
      machines_.AwaitEnd();
    });
    Conductor* conductor = machines_.conductor();
    if (link_.rank() != 0) {
      // Prints the failure if no other process reports it.
      if (failure && (trouble || machines_.leader_is_gone())) {
        std::fprintf(stderr, "viaduct: %s\n", TerminalText(failure->error).c_str());
      }
      return failure ? failure->status : 0;
    }
    json answer;
    const auto in_merging = FailureOf([&] {
      if (conductor && !conductor->failure() && !failure) answer["result"] = MergeAll(*conductor);
    });
    if (!failure) failure = in_merging;
    if (conductor && conductor->failure()) {
      failure = Failure{conductor->failure()->error, conductor->failure()->status};
    }
    if (failure) answer = {{"error", failure->error}, {"status", failure->status}};
    (void)FailureOf([&] {
      for (int rank = 0; rank < link_.size(); ++rank) machines_.Send(rank, End());
    });
    WriteAll(STDOUT_FILENO, JsonText(answer) + "\n", "the results");
    return failure ? failure->status : 0;
  }

  result::RunResult MergeAll(const Conductor& conductor) {
    const std::vector<ClockReading> after = machines_.MeasureClocks();
    std::vector<PartResult> parts;
    for (const auto& [rank, result] : conductor.results()) {
      parts.push_back(
          {conductor.NameOf(rank), result, conductor.clocks().at(rank), after.at(rank)});
    }
    if (parts.size() != scenario_.machines.size())
      throw Error("the results of a machine are missing");
    std::ranges::sort(parts, {}, [&](const PartResult& part) {
      return scenario::MachineNumber(scenario_, part.machine);
    });
    return Merge(scenario_, std::move(parts));
  }

  const std::function<void()>& need_root_;
  MpiLink link_;
  RankMachines machines_;
  scenario::Scenario scenario_, part_;
};

}  // namespace

int RunRank(const std::function<void()>& need_root) {
  signal(SIGPIPE, SIG_IGN);  // mpirun may end before this process has cleaned up
  return Rank(need_root).Run();
}

}  // namespace viaduct::machines
