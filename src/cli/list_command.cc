// viaduct ls: the labs of this machine.
#include <fmt/format.h>
#include <pwd.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/labs.h"
#include "run/table.h"

namespace viaduct::cli {
namespace {

std::string UserName(uid_t uid) {
  const passwd* user = getpwuid(uid);
  return user ? user->pw_name : std::to_string(uid);
}

void ListLabs(bool as_json) {
  nlohmann::json list = nlohmann::json::array();
  std::vector<std::vector<std::string>> rows = {{"lab", "state", "broker pid", "user", "since"}};
  for (const lab::RunInfo& run : lab::ListRuns()) {
    list.push_back({{"lab", run.lab},
                    {"state", StateOf(run)},
                    {"broker_pid", run.broker_pid},
                    {"engine_pid", run.engine_pid},
                    {"engine_alive", run.engine_alive},
                    {"uid", run.owner_uid},
                    {"created", run.created}});
    const bool died = run.alive && run.engine_pid != 0 && !run.engine_alive;
    rows.push_back({run.lab, StateOf(run) + (died ? ", engine died" : ""),
                    std::to_string(run.broker_pid), UserName(run.owner_uid), run.created});
  }
  if (as_json) {
    std::printf("%s\n", list.dump(2).c_str());
  } else if (rows.size() > 1) {
    std::fputs(run::FormatTable(rows).c_str(), stdout);
  } else {
    std::fputs("no labs; viaduct up FILE.yaml starts one\n", stderr);
  }
}

}  // namespace

void AddList(CLI::App& app, Invocation&) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("ls", "list the labs of this machine");
  command->add_flag("--json", *as_json, "for machines");
  command->footer(
      "States: up (viaduct up), running (viaduct run), dead (killed; viaduct clean removes it).\n"
      "Example:\n  viaduct ls --json");
  command->callback([as_json] { ListLabs(*as_json); });
}

}  // namespace viaduct::cli
