// viaduct ls: the labs of this machine.

#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/labs.h"
#include "cli/listings.h"
#include "cli/output.h"
#include "sys/invoking_user.h"

namespace viaduct::cli {
namespace {

std::string UserName(uid_t uid) {
  const auto user = sys::FindAccount(uid);
  return user ? user->name : std::to_string(uid);
}

// What happened to the simulator, for the column of the state.
std::string Deaths(const lab::SimulatorHistory& history) {
  if (history.given_up) return ", no simulator (given up): " + history.cause;
  if (history.absent) {
    return fmt::format(", no simulator since {}: {}", history.last_death, history.cause);
  }
  if (history.restarts == 0) return "";
  return fmt::format(", simulator restarted {} times, last {} ({:.1f} s without)", history.restarts,
                     history.last_death, history.without_seconds.value_or(0));
}

void PrintLabs(bool as_json) {
  std::vector<ListedLab> list;
  std::vector<std::vector<std::string>> rows = {{"lab", "state", "broker pid", "user", "since"}};
  for (const lab::RunInfo& run : lab::ListRuns()) {
    list.push_back({run.name, StateOf(run), run.pid, run.engine_pid, run.engine_alive, run.uid,
                    run.created, run.simulator});
    const bool died = run.alive && run.engine_pid != 0 && !run.engine_alive;
    rows.push_back({run.name, StateOf(run) + (died ? ", engine died" : "") + Deaths(run.simulator),
                    std::to_string(run.pid), UserName(run.uid), run.created});
  }
  PrintList(as_json, list, rows, "no labs; start one with viaduct up FILE.yaml");
}

}  // namespace

void AddList(CLI::App& app, Invocation&) {
  CLI::App* command = app.add_subcommand("ls", "list the labs of this machine");
  const auto as_json = AddJsonFlag(*command);
  command->footer(
      "States: up (viaduct up), running (viaduct run), dead (killed; viaduct clean removes it).\n"
      "Example:\n  viaduct ls --json");
  command->callback([as_json] { PrintLabs(*as_json); });
}

}  // namespace viaduct::cli
