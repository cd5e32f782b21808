// viaduct down: removes a lab that is up. viaduct clean: removes what killed runs have left behind.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/error.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/labs.h"
#include "cli/listings.h"
#include "cli/output.h"
#include "cli/privilege.h"
#include "guest/process/boot_folder.h"
#include "guest/shell/paused.h"
#include "lab/broker/client.h"
#include "path/live/path_record.h"
#include "path/shell/shell_record.h"
#include "remote/join/join_record.h"
#include "run/hub/hub_record.h"
#include "sys/ipc/answer.h"
#include "sys/process/process.h"

namespace viaduct::cli {
namespace {

// The maximum time within which the simulator, its supervisor and the broker must end after the lab
// was removed.
constexpr int kTimeoutMilliseconds = 10000;

// The maximum time for the removal of the largest labs on a busy machine.
constexpr Duration kRemovalTimeout = Duration::Seconds(120);

UniqueFd ProcessOf(int pid) {
  try {
    return sys::OpenPidFd(pid);
  } catch (const SystemError&) {
    return UniqueFd();  // the process has already ended
  }
}

void Down(const std::string& given) {
  const std::string lab = ChooseLab(given);
  UniqueFd broker;
  for (const lab::RunInfo& run : LabsThatAreUp()) {
    if (run.name == lab) broker = ProcessOf(run.pid);
  }
  {
    broker::Client client = broker::Client::ConnectToLab(lab);
    client.LimitWaiting(kRemovalTimeout);
    client.DestroyLab();
  }
  pollfd ended{broker.get(), POLLIN, 0};
  if (broker && poll(&ended, 1, kTimeoutMilliseconds) == 0) {
    throw Error(
        fmt::format("lab {} was removed, but the broker process of the lab does not exit", lab));
  }
}

template <class Entry>
void AddNames(const std::vector<Entry>& removed, Cleaning* cleaning) {
  for (const Entry& entry : removed) cleaning->removed.push_back(entry.name);
}

// Adds the names of those entries for which this process cannot find out whether the maker is
// alive.
template <class Entry>
void AddUnknown(const std::vector<Entry>& all, Cleaning* cleaning) {
  for (const Entry& entry : all) {
    if (entry.unknown) cleaning->left.push_back(entry.name);
  }
}

Cleaning CleanOnce() {
  Cleaning done;
  AddNames(remote::RemoveDeadJoins(&done.problems), &done);
  AddNames(path::RemoveDeadShells(&done.problems), &done);
  AddNames(path::RemoveDeadPaths(&done.problems), &done);
  AddNames(lab::RemoveDeadRuns(&done.problems), &done);
  AddUnknown(remote::ListJoins(), &done);
  AddUnknown(path::ListShells(), &done);
  AddUnknown(path::ListPaths(), &done);
  AddUnknown(lab::ListRuns(), &done);
  return done;
}

void Clean(bool as_json) {
  Cleaning cleaning;
  if (lab::Runs().HasDead() || path::Paths().HasDead() || path::Shells().HasDead() ||
      remote::Joins().HasDead()) {
    NeedRoot();
    cleaning = privilege::AskOnce(kCleanService, OnlyRequest::kDo).get<Cleaning>();
  }
  for (const auto& paused : guest::RemoveDeadPaused(&cleaning.problems)) {
    cleaning.removed.push_back(paused.simulation);
  }
  AddNames(run::RemoveDeadHubs(&cleaning.problems), &cleaning);
  AddNames(guest::RemoveDeadBootFolders(&cleaning.problems), &cleaning);
  if (!cleaning.left.empty()) {
    std::fprintf(
        stderr,
        "viaduct clean: did not remove %s: created in another pid namespace, and possibly still "
        "running; run viaduct clean in that namespace, or in the machine's initial namespaces\n",
        fmt::format("{}", fmt::join(cleaning.left, ", ")).c_str());
  }
  if (as_json) {
    PrintJson(cleaning);
  } else {
    for (const std::string& name : cleaning.removed) std::printf("removed %s\n", name.c_str());
  }
  if (!cleaning.problems.empty()) {
    throw Error(fmt::format("cannot remove {} leftovers of killed runs: {}",
                            cleaning.problems.size(), fmt::join(cleaning.problems, "; ")));
  }
}

}  // namespace

void CleanAsRoot(UniqueFd connection, const sys::Identity&) {
  const auto clean = [](const nlohmann::json&) {
    Cleaning all;
    // Repeats the clean-up until it removes nothing: entries that ran within a removed entry are
    // dead only after its removal.
    for (;;) {
      Cleaning round = CleanOnce();
      all.removed.insert(all.removed.end(), round.removed.begin(), round.removed.end());
      all.problems = std::move(round.problems);
      all.left = std::move(round.left);
      if (round.removed.empty()) return nlohmann::json(all);
    }
  };
  ipc::AnswerOnly(std::move(connection), kCleanService, OnlyRequest::kDo, clean);
}

void AddDown(CLI::App& app, Invocation&) {
  auto lab = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("down", "remove a lab that is up");
  command->add_option("LAB", *lab, "the name of the lab; may be omitted if only one lab is up");
  command->footer("Example:\n  viaduct down olsr-line");
  command->callback([lab] { Down(*lab); });
}

void AddClean(CLI::App& app, Invocation&) {
  CLI::App* command = app.add_subcommand("clean", "remove what killed runs have left behind");
  const auto as_json = AddJsonFlag(*command);
  command->footer(
      "Removes only what killed processes have left, as recorded in /run/viaduct.\n"
      "Example:\n  viaduct clean");
  command->callback([as_json] { Clean(*as_json); });
}

}  // namespace viaduct::cli
