// viaduct ls: lists the labs, hubs and joined nodes of this machine.

#include <fmt/format.h>

#include <cstdio>

#include "base/error.h"
#include "base/result/paused.h"
#include "base/text/terminal_text.h"
#include "base/text/text_table.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/labs.h"
#include "cli/listings.h"
#include "cli/output.h"
#include "guest/shell/paused.h"
#include "guest/shell/shell_client.h"
#include "remote/join/join_record.h"
#include "run/hub/hub_record.h"
#include "run/watch/inspection.h"
#include "sys/process/invoking_user.h"

namespace viaduct::cli {
namespace {

using nlohmann::json;

std::string UserName(uid_t uid) {
  const auto user = sys::FindAccount(uid);
  return user ? user->name : std::to_string(uid);
}

// Returns a text about failures of the simulator, for the column of the lab's state.
std::string Deaths(const lab::SimulatorHistory& history) {
  if (history.given_up) return ", no simulator running (no further restart): " + history.cause;
  if (history.absent) {
    return fmt::format(", no simulator running since {}: {}", history.last_death, history.cause);
  }
  if (history.restarts == 0) return "";
  return fmt::format(", simulator restarted {} times, last at {} ({:.1f} s without simulator)",
                     history.restarts, history.last_death, history.without_seconds.value_or(0));
}

std::string Deaths(const lab::ForwarderHistory& history) {
  if (history.absent) return ", forwarder exited unexpectedly: " + history.cause;
  if (history.restarts == 0) return "";
  return fmt::format(", forwarder restarted {} times: {}", history.restarts, history.cause);
}

using Rows = std::vector<std::vector<std::string>>;

std::string StateOfProcess(const sys::RegistryEntry& entry) {
  return entry.alive ? "running" : "dead";
}

void ListLabs(json& list, Rows& rows) {
  rows = {{"lab", "state", "broker pid", "user", "since"}};
  for (const lab::RunInfo& run : lab::ListRuns()) {
    list.push_back(ListedLab{"lab", run.name, StateOf(run), run.pid, run.engine_pid,
                             run.engine_alive, run.uid, run.created, run.simulator, run.forwarder});
    const bool died = run.alive && run.engine_pid != 0 && !run.engine_alive;
    const std::string deaths =
        (died ? ", path engine exited unexpectedly" : "") + Deaths(run.simulator);
    rows.push_back({run.name, StateOf(run) + deaths + (run.alive ? Deaths(run.forwarder) : ""),
                    std::to_string(run.pid), UserName(run.uid), run.created});
  }
}

void ListHubs(json& list, Rows& rows) {
  rows = {{"hub", "state", "pid", "user", "since", "port", "remote nodes"}};
  for (const run::HubInfo& hub : run::ListHubs()) {
    list.push_back(ListedHub{"hub", "", hub.name, StateOfProcess(hub), hub.pid, hub.port, hub.nodes,
                             hub.uid, hub.created});
    rows.push_back({hub.name, StateOfProcess(hub), std::to_string(hub.pid), UserName(hub.uid),
                    hub.created, std::to_string(hub.port), std::to_string(hub.nodes.size())});
  }
}

void ListJoins(json& list, Rows& rows) {
  rows = {{"joined node", "state", "pid", "user", "since", "hub", "interface"}};
  for (const remote::JoinInfo& join : remote::ListJoins()) {
    const std::string interface = join.inside ? join.inside->interface : "";
    list.push_back(ListedJoin{"joined node", "", join.name, StateOfProcess(join), join.pid,
                              join.hub, join.node, interface, join.uid, join.created});
    rows.push_back({join.node, StateOfProcess(join), std::to_string(join.pid), UserName(join.uid),
                    join.created, join.hub, interface});
  }
}

void ListPauses(json& list, Rows& rows) {
  rows = {{"paused simulation", "state", "pid", "user", "since", "at", "nodes"}};
  for (const guest::PausedSimulation& paused : guest::ListPaused()) {
    const std::string state = paused.alive ? "paused" : "dead";
    std::vector<ListedNetwork> links;
    for (const guest::PausedLink& link : paused.links) {
      links.push_back({link.name, link.nodes, link.interfaces});
    }
    list.push_back(ListedPause{"paused simulation", "", paused.simulation, state, paused.pid,
                               paused.time, paused.nodes, paused.kernels, links, paused.uid,
                               paused.created});
    rows.push_back({paused.simulation, state, std::to_string(paused.pid), UserName(paused.uid),
                    paused.created, fmt::format("{:.6f} s", paused.time),
                    std::to_string(paused.nodes.size())});
  }
}

void PrintAll(bool as_json) {
  json list = json::array();
  std::string text;
  for (const auto& section : {ListLabs, ListHubs, ListJoins, ListPauses}) {
    Rows rows;
    section(list, rows);
    if (rows.size() > 1) text += (text.empty() ? "" : "\n") + result::FormatTable(rows);
  }
  if (as_json) {
    PrintJson(list);
  } else if (text.empty()) {
    std::fputs(
        "no labs, hubs, joined nodes or paused simulations; start a lab with viaduct up "
        "FILE.yaml\n",
        stderr);
  } else {
    PrintText(text);
  }
}

// Prints the names of the labs that are up, or of their nodes in the form that `exec` accepts, one
// a line.
void PrintNames(const std::string& what) {
  const std::vector<lab::RunInfo> labs = LabsThatAreUp();
  std::string text;
  for (const lab::RunInfo& each : labs) {
    if (what == "labs") {
      text += each.name + "\n";
      continue;
    }
    for (const std::string& node : watch::NodesOf(each)) {
      text += (labs.size() > 1 ? each.name + ":" : "") + node + "\n";
    }
  }
  PrintText(TerminalText(text));
}

void PrintPaused(const guest::PausedSimulation& paused, const std::string& to, bool as_json) {
  const auto state = guest::Ask(paused, {{"to", to}}).get<result::PausedState>();
  if (as_json) {
    PrintJson(state);
  } else {
    PrintText(TerminalText(result::FormatPaused(state)));
  }
}

void PrintLab(const std::string& lab, bool as_json) {
  constexpr Duration kTimeout = Duration::Seconds(2);
  const watch::Inspection inspection = watch::Inspect(lab, kTimeout);
  if (as_json) {
    PrintJson(inspection);
  } else {
    PrintText(TerminalText(watch::FormatInspection(inspection)));
  }
}

void PrintOne(const std::string& name, const std::string& to, bool as_json) {
  if (const auto paused = PausedUnlessLab(name)) return PrintPaused(*paused, to, as_json);
  if (!to.empty()) throw UsageError("--to: no paused simulation '" + name + "' exists");
  PrintLab(name, as_json);
}

}  // namespace

void AddList(CLI::App& app, Invocation&) {
  struct Options {
    std::string lab, names, to;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("ls",
                                         "list the labs, hubs, joined nodes and paused simulations "
                                         "of this machine, or show one lab or simulation");
  command->add_option("LAB", options->lab,
                      "a lab that is up, or a paused simulation, to show its nodes and links");
  command
      ->add_option("--to", options->to,
                   "for a paused simulation, also show the next hop of each node to this node")
      ->type_name("NODE");
  command
      ->add_option(
          "--names", options->names,
          "only print the names of the labs that are up, or of their nodes, one on each line")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"labs", "nodes"}));
  const auto as_json = AddJsonFlag(*command);
  command->footer(
      "States: up (viaduct up), running (viaduct run), dead (killed; viaduct clean removes the "
      "entry).\nWith LAB: interfaces, addresses, routes, and links with SPECs and "
      "counters.\nExamples:\n  viaduct ls --json\n  viaduct ls mesh");
  command->callback([as_json, options] {
    if (!options->names.empty()) return PrintNames(options->names);
    if (options->lab.empty() && !options->to.empty())
      throw UsageError("--to: specify a paused simulation");
    return options->lab.empty() ? PrintAll(*as_json)
                                : PrintOne(options->lab, options->to, *as_json);
  });
}

}  // namespace viaduct::cli
