// viaduct down: ends a lab that is up. viaduct clean: removes what killed runs left.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/error.h"
#include "broker/call.h"
#include "broker/client.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/labs.h"
#include "cli/listings.h"
#include "cli/output.h"
#include "cli/privilege.h"
#include "emulate/path_record.h"
#include "guest/shell/paused.h"
#include "sys/process.h"

namespace viaduct::cli {
namespace {

// How long the simulator, its keeper and the broker may take to end once the lab is gone.
constexpr int kPatienceMilliseconds = 10000;

UniqueFd ProcessOf(int pid) {
  try {
    return sys::OpenPidFd(pid);
  } catch (const SystemError&) {
    return UniqueFd();  // it has ended
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
    client.DestroyLab();
  }
  pollfd ended{broker.get(), POLLIN, 0};
  if (broker && poll(&ended, 1, kPatienceMilliseconds) == 0) {
    throw Error(fmt::format("lab {} is gone, but its broker does not end", lab));
  }
}

bool HasDead() {
  const auto is_dead = [](const auto& record) { return !record.alive; };
  return std::ranges::any_of(lab::ListRuns(), is_dead) ||
         std::ranges::any_of(emulate::ListPaths(), is_dead);
}

void Clean(bool as_json) {
  Cleaning cleaning;
  if (HasDead()) {
    NeedRoot();
    cleaning = broker::AskOnce(privilege::Service::kCleaner, broker::MessageType::kClean,
                               nlohmann::json::object())
                   .get<Cleaning>();
  }
  for (const auto& paused : guest::RemoveDeadPaused(&cleaning.problems)) {
    cleaning.removed.push_back(paused.simulation);
  }
  if (as_json) {
    PrintJson(cleaning);
  } else {
    for (const std::string& name : cleaning.removed) std::printf("removed %s\n", name.c_str());
  }
  if (!cleaning.problems.empty()) {
    throw Error(fmt::format("{} leftovers of dead runs cannot be removed: {}",
                            cleaning.problems.size(), fmt::join(cleaning.problems, "; ")));
  }
}

}  // namespace

void CleanAsRoot(UniqueFd connection, const sys::Identity&) {
  broker::AnswerOnce(std::move(connection), broker::MessageType::kClean, [](const nlohmann::json&) {
    Cleaning cleaning;
    for (const auto& run : lab::RemoveDeadRuns(&cleaning.problems)) {
      cleaning.removed.push_back(run.name);
    }
    for (const auto& path : emulate::RemoveDeadPaths(&cleaning.problems)) {
      cleaning.removed.push_back(path.name);
    }
    return nlohmann::json(cleaning);
  });
}

void AddDown(CLI::App& app, Invocation&) {
  auto lab = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("down", "end a lab that is up");
  command->add_option("LAB", *lab, "its name; may be omitted when only one lab is up");
  command->footer("Example:\n  viaduct down olsr-line");
  command->callback([lab] { Down(*lab); });
}

void AddClean(CLI::App& app, Invocation&) {
  CLI::App* command = app.add_subcommand("clean", "remove what killed runs left behind");
  const auto as_json = AddJsonFlag(*command);
  command->footer(
      "Uses the records under /run/viaduct; live labs and everything else are left alone.\n"
      "Example:\n  viaduct clean");
  command->callback([as_json] { Clean(*as_json); });
}

}  // namespace viaduct::cli
