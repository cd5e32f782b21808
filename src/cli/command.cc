#include "cli/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <initializer_list>
#include <string_view>

#include "base/error.h"
#include "base/text/edit_distance.h"
#include "base/text/terminal_text.h"
#include "cli/output.h"
#include "cli/privilege.h"
#include "cli/suggestions.h"
#include "run/simulator/environment.h"
#include "sys/event_loop.h"
#include "sys/signals.h"

namespace viaduct::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  viaduct run --topo line,5 --protocol OLSR        OLSR routes in kernel tables, real traffic
  viaduct init grid                                write a commented scenario file to edit
  viaduct run examples/grid.yaml --mode simulate   everything in ns-3, no root
  viaduct up examples/olsr-line.yaml && viaduct exec n0 -- ping -c 3 10.0.0.14; viaduct down
  viaduct path --between eth1 eth2 --up delay=20ms an emulated path between two interfaces
  viaduct shell --down "rate=10Mbit" -- curl -O .. a program behind an emulated path
  viaduct join HUB --node n17 -- iperf3 -s         run a program here as a node of a hub
  viaduct top                                      live view of labs, paths, hubs and clients
  viaduct sweep x.yaml --over seed=1..20 --out out many seeds, with confidence intervals
  viaduct doctor                                   what this machine can do

Exit status: 0 success, 1 failure, 2 usage error, 3 not possible on this machine, 4 the run is VOID.)";

// The subcommands in the order of --help.
constexpr AddSubcommand* kSubcommands[] = {
    AddRun,  AddPath, AddShell, AddUp,     AddHub,     AddJoin, AddExec,  AddLink,
    AddList, AddTop,  AddDown,  AddClean,  AddDoctor,  AddInit, AddSweep, AddCompare,
    AddPlot, AddView, AddBench, AddKernel, AddVersion, AddDocs, AddRank};

// Removes the middle part of a long message, which may quote input such as a file of another
// program. The beginning of a message states where the error is, and the end states how to correct
// the error.
std::string Shortened(std::string message) {
  constexpr size_t kBegin = 3000, kEnd = 1000;
  if (message.size() <= kBegin + kEnd) return message;
  const size_t left_out = message.size() - kBegin - kEnd;
  return message.replace(kBegin, left_out, fmt::format(" [{} bytes more] ", left_out));
}

void PrintError(const std::string& message) {
  std::fflush(stdout);
  std::fprintf(stderr, "viaduct: %s\n", TerminalText(Shortened(message)).c_str());
}

std::string OneLine(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

// Refuses options with an empty value. Otherwise an option whose value is an unset variable of a
// script would have the same effect as if the option were missing.
void RefuseEmptyValues(CLI::App& app) {
  const CLI::Validator given(
      [](std::string& value) {
        return std::string(value.empty() ? "the value is empty; specify a value, or omit the option"
                                         : "");
      },
      "");
  for (CLI::Option* const option : app.get_options()) {
    const std::string name = option->get_single_name();
    const bool may_be_empty = name == "up" || name == "down";  // empty: the SPEC of a plain wire
    if (option->nonpositional() && !may_be_empty) option->check(given);
  }
  for (CLI::App* const each : app.get_subcommands([](const CLI::App*) { return true; })) {
    RefuseEmptyValues(*each);
  }
}

int Parse(CLI::App& app, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 expects the reverse order
  try {
    app.parse(std::move(arguments));
    return 0;
  } catch (const CLI::CallForHelp& call) {
    return app.exit(call);
  } catch (const CLI::CallForVersion& call) {
    return app.exit(call);
  } catch (const CLI::CallForAllHelp& call) {
    return app.exit(call);
  } catch (const CLI::ParseError& error) {
    const auto used = app.get_subcommands();
    const bool unknown = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    // For an unknown word after `kernel`, CLI11 would report a missing subcommand, because it
    // checks the word later.
    const bool missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
    const std::string hint = unknown || missing ? SuggestionFor(app) : "";
    PrintError(fmt::format("{}{} see viaduct {}--help", OneLine(error.what()),
                           hint.empty() ? ";" : hint,
                           used.empty() ? "" : used.front()->get_name() + " "));
    return static_cast<int>(ExitStatus::kUsage);
  }
}

// Inserts "--" after the node of `exec NODE ls -l`: all words after the node belong to the program,
// even an option that viaduct also has.
std::vector<std::string> WithCommandSetApart(std::vector<std::string> words) {
  const bool set_apart =
      words.size() < 3 || words[0] != "exec" || words[1].rfind('-', 0) == 0 || words[2] == "--";
  if (!set_apart && words[2] != "--help") words.insert(words.begin() + 2, "--");
  return words;
}

// Replaces the words `viaduct`, `viaduct help` and `viaduct help COMMAND...` by the option --help.
std::vector<std::string> WithHelpAsOption(std::vector<std::string> words) {
  if (words.size() > 1 && words[1] != "help") return words;
  if (words.size() > 1) words.erase(words.begin() + 1);
  words.emplace_back("--help");
  return words;
}

// Resets signals that the caller ignores or blocks, because this process waits for children. If
// SIGHUP is ignored (nohup(1)), it is not reset.
void ResetInherited() {
  sys::UnblockSignals();
  signal(SIGCHLD, SIG_DFL);
  // Makes SIGPIPE end the process silently if the reader has closed the pipe (| head).
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_IGN);  // above a limit of the caller, write(2) fails as if the disk were full
}

// Returns whether the command may start sudo at a later time.
bool MayNeedRoot(const std::vector<std::string>& words) {
  const auto is_one_of = [&](size_t place, std::initializer_list<std::string_view> list) {
    return words.size() > place && std::ranges::find(list, words[place]) != list.end();
  };
  if (is_one_of(1, {"path"})) return !is_one_of(2, {"set", "stats", "ls"});
  return is_one_of(1, {"run", "rank", "up", "hub", "shell", "join", "clean", "bench", "sweep"});
}

// Parses the words and runs the subcommand, after the process has its final identity. Returns the
// exit status.
int Perform(const std::vector<std::string>& words) {
  Invocation invocation;
  invocation.words = words;
  CLI::App app("Runs ns-3 protocols on real networks.", "viaduct");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.set_version_flag("--version", "viaduct " + run::Version());
  for (AddSubcommand* const add : kSubcommands) add(app, invocation);
  RefuseEmptyValues(app);
  const std::vector<std::string> known = SubcommandsOf(app);
  if (words.size() > 1 && words[1][0] != '-' && std::ranges::count(known, words[1]) == 0) {
    const std::string hint = DidYouMean(words[1], known);
    throw UsageError(fmt::format("there is no subcommand '{}'{} see viaduct --help", words[1],
                                 hint.empty() ? ";" : hint));
  }
  const int status = Parse(app, WithCommandSetApart({words.begin() + 1, words.end()}));
  return status != 0 ? status : invocation.status;
}

}  // namespace

int Main(const std::vector<std::string>& typed) {
  const std::vector<std::string> words = WithHelpAsOption(typed);
  ResetInherited();
  try {
    privilege::SeparateHalves(words.size() > 1 ? words[1] : "", RootServices());
    if (!MayNeedRoot(words)) privilege::NeedNoRoot();
    const int status = Perform(words);
    FinishOutput();
    return status;
  } catch (const sys::Interrupted& interrupted) {
    PrintError(interrupted.what());
    return 128 + interrupted.signal();
  } catch (const Error& error) {
    PrintError(OneLine(error.what()));
    return static_cast<int>(error.status());
  } catch (const std::exception& error) {
    PrintError(OneLine(error.what()));
    return static_cast<int>(ExitStatus::kFailure);
  }
}

}  // namespace viaduct::cli
