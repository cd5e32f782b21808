#include "cli/manual.h"

#include <fmt/format.h>

#include <sstream>

#include "run/simulator/environment.h"

namespace viaduct::cli {
namespace {

// Escapes text so that roff(7) prints it unchanged.
std::string Roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n')) {
      escaped += std::string("\\&") + c;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string NamesOf(const CLI::Option& option) {
  std::string names;
  const auto add = [&](const std::string& name) {
    names += (names.empty() ? "\\fB" : ", \\fB") + Roff(name) + "\\fR";
  };
  for (const std::string& name : option.get_snames()) add("-" + name);
  for (const std::string& name : option.get_lnames()) add("--" + name);
  if (names.empty()) names = "\\fI" + Roff(option.get_name()) + "\\fR";
  const bool has_value = option.nonpositional() && option.get_items_expected_max() > 0;
  if (has_value) names += " \\fI" + Roff(option.get_type_name()) + "\\fR";
  return names;
}

std::string OptionEntries(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : ShownOptions(app)) {
    text += fmt::format(".TP\n{}\n{}\n", NamesOf(*option), Roff(option->get_description()));
  }
  return text;
}

std::string Synopsis(const CLI::App& app, const std::string& name) {
  std::string text = ".B " + Roff(name);
  for (const CLI::Option* option : ShownOptions(app)) {
    if (option->nonpositional()) continue;
    const std::string& operand = option->get_name();
    text += option->get_required() ? " \\fI" + Roff(operand) + "\\fR"
                                   : " [\\fI" + Roff(operand) + "\\fR]";
  }
  if (!ShownSubcommands(app).empty()) text += " [\\fICOMMAND\\fR]";
  return text + " [\\fIOPTIONS\\fR]\n";
}

// Returns the text that --help prints below the options, with its lines unchanged.
std::string Footer(const CLI::App& app) {
  const std::string footer = app.get_footer();
  return footer.empty() ? "" : ".PP\n.nf\n" + Roff(footer) + "\n.fi\n";
}

std::string Command(const CLI::App& app, const std::string& parents) {
  const std::string name = parents + " " + app.get_name();
  std::string text = fmt::format(".SS {}\n{}.PP\n{}.\n{}{}", Roff(name), Synopsis(app, name),
                                 Roff(app.get_description()), OptionEntries(app), Footer(app));
  for (const CLI::App* each : ShownSubcommands(app)) text += Command(*each, name);
  return text;
}

}  // namespace

std::vector<const CLI::App*> ShownSubcommands(const CLI::App& app) {
  std::vector<const CLI::App*> shown;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!each->get_group().empty()) shown.push_back(each);
  }
  return shown;
}

std::vector<const CLI::Option*> ShownOptions(const CLI::App& app) {
  std::vector<const CLI::Option*> shown;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) shown.push_back(option);
  }
  return shown;
}

std::string ManualPage(const CLI::App& app) {
  std::string commands;
  for (const CLI::App* each : ShownSubcommands(app)) commands += Command(*each, app.get_name());
  return fmt::format(
      R"(.\" Printed by `viaduct docs man`; do not edit it by hand.
.TH VIADUCT 1 "" "viaduct {}" "User Commands"
.SH NAME
viaduct \- run ns\-3 protocols and emulated paths on real networks
.SH SYNOPSIS
.B viaduct
\fICOMMAND\fR [\fIOPTIONS\fR]
.SH DESCRIPTION
{} Without an argument it prints its help; \fBviaduct help\fR \fICOMMAND\fR prints the help of a command.
.SH COMMANDS
{}.SH EXAMPLES AND EXIT STATUS
{}.SH ENVIRONMENT
.TP
.B VIADUCT_LIBEXEC
The folder of viaduct\-sim, viaduct\-load and viaduct\-guest, if it is not the folder of the installation.
.TP
.B VIADUCT_SIM
The simulator that is used instead of viaduct\-sim.
.TP
.B VIADUCT_SIM_LIBRARIES
Shared libraries with your own protocols, which the simulator loads.
.SH FILES
.TP
.I /run/viaduct
Records of running labs, paths, shells and joined nodes. \fBviaduct clean\fR removes what killed processes left behind.
.TP
.I ~/.cache/viaduct
The kernels that \fBviaduct kernel build\fR has built.
)",
      run::Version(), Roff(app.get_description()), commands, Footer(app));
}

}  // namespace viaduct::cli
