#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/manual.h"
#include "cli/suggestions.h"
#include "scenario/keys.h"
#include "scenario/sample.h"

namespace viaduct::cli {
namespace {

// A command of viaduct, or viaduct itself, after which words are completed.
struct CommandPlace {
  std::string path;  // "path set"; "" for viaduct itself
  const CLI::App* app;
};

void Collect(const CLI::App& app, const std::string& path, std::vector<CommandPlace>& places) {
  places.push_back({path, &app});
  for (const CLI::App* each : ShownSubcommands(app)) {
    Collect(*each, path.empty() ? each->get_name() : path + " " + each->get_name(), places);
  }
}

std::vector<CommandPlace> PlacesOf(const CLI::App& app) {
  std::vector<CommandPlace> places;
  Collect(app, "", places);
  return places;
}

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// Returns the values that an option or operand can have; empty if they are not a few words.
std::string Values(const std::string& name) {
  if (name == "--mode") return scenario::ChoicesOf(scenario::FindKey("mode"));
  if (name == "TOPOLOGY" || name == "--topo") {
    return fmt::format("{}", fmt::join(scenario::SampleTopologies(), " "));
  }
  if (name == "--protocol") return "OLSR RIP RIPng DSDV AODV static WMRP";
  if (name == "--names") return "labs nodes";
  if (name == "TOPIC") return "scenario schema path-spec results man completion";
  return "";
}

// Returns the shell command that lists the labs that are up, or their nodes, for an operand that
// names a lab or node; empty for other operands.
std::string NamesFor(const std::string& command, const std::string& operand) {
  if (command == "exec" && operand == "NODE") return "viaduct ls --names nodes 2>/dev/null";
  if (operand == "LAB") return "viaduct ls --names labs 2>/dev/null";
  return "";
}

std::string NamesFor(const CommandPlace& place) {
  for (const CLI::Option* option : ShownOptions(*place.app)) {
    if (option->nonpositional()) continue;
    std::string names = NamesFor(place.path, option->get_name());
    if (!names.empty()) return names;
  }
  return "";
}

std::vector<std::string> WordsOf(const CommandPlace& place) {
  std::vector<std::string> words;
  for (const CLI::App* each : ShownSubcommands(*place.app)) words.push_back(each->get_name());
  if (place.path.empty()) words.emplace_back("help");
  for (const CLI::Option* option : ShownOptions(*place.app)) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
    if (option->nonpositional()) continue;
    if (const std::string values = Values(option->get_name()); !values.empty()) {
      words.push_back(values);
    }
  }
  return words;
}

// Returns the text in single quotes, as shells require.
std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// Returns the branches of a shell's `case` that follow the typed words to the command that they
// name.
std::string Steps(const std::vector<CommandPlace>& places) {
  std::string cases;
  for (const CommandPlace& place : places) {
    for (const CLI::App* each : ShownSubcommands(*place.app)) {
      cases +=
          fmt::format("      '{} {}') at='{}' ;;\n", place.path, each->get_name(),
                      place.path.empty() ? each->get_name() : place.path + " " + each->get_name());
    }
  }
  return cases;
}

}  // namespace

std::string BashCompletion(const CLI::App& app) {
  const std::vector<CommandPlace> places = PlacesOf(app);
  std::string words, values;
  for (const CommandPlace& place : places) {
    const std::string names = NamesFor(place);
    words += fmt::format("    '{}') words='{}'{} ;;\n", place.path, fmt::join(WordsOf(place), " "),
                         names.empty() ? "" : fmt::format("\" $({})\"", names));
    for (const CLI::Option* option : ShownOptions(*place.app)) {
      if (!option->nonpositional() || !TakesValue(*option)) continue;
      for (const std::string& name : option->get_lnames()) {
        values +=
            fmt::format("    '{} --{}') words='{}' ;;\n", place.path, name, Values("--" + name));
      }
    }
  }
  return fmt::format(R"(# Printed by `viaduct docs completion bash`.
_viaduct() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
  local at='' words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at ${{COMP_WORDS[i]}}" in
{}      *' --') return ;;
    esac
  done
  case "$at $previous" in
{}    *) case "$at" in
{}    esac ;;
  esac
  if [[ $words != *:* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  # LAB:NODE, which readline takes for three words.
  local whole=${{COMP_LINE:0:COMP_POINT}}
  whole=${{whole##* }}
  COMPREPLY=($(compgen -W "$words" -- "$whole"))
  if [[ $whole == *:* && $COMP_WORDBREAKS == *:* ]]; then
    COMPREPLY=("${{COMPREPLY[@]#"${{whole%"${{whole##*:}}"}}"}}")
  fi
}}
complete -o bashdefault -o default -F _viaduct viaduct
)",
                     Steps(places), values, words);
}

std::string ZshCompletion(const CLI::App& app) {
  const std::vector<CommandPlace> places = PlacesOf(app);
  std::string words;
  const auto entry = [](const std::string& name, const std::string& meaning) {
    return " " + Quoted(name + ":" + meaning);
  };
  for (const CommandPlace& place : places) {
    words += fmt::format("    '{}') candidates=(", place.path);
    for (const CLI::App* each : ShownSubcommands(*place.app)) {
      words += entry(each->get_name(), each->get_description());
    }
    if (place.path.empty()) words += entry("help", "print the help of a command");
    for (const CLI::Option* option : ShownOptions(*place.app)) {
      for (const std::string& name : option->get_lnames()) {
        words += entry("--" + name, option->get_description());
      }
    }
    words += " )";
    if (const std::string names = NamesFor(place); !names.empty()) {
      words += fmt::format(
          "; for i in ${{(f)\"$({})\"}}; do candidates+=(\"${{i//:/\\\\:}}\"); done", names);
    }
    words += " ;;\n";
  }
  return fmt::format(R"(#compdef viaduct
# Printed by `viaduct docs completion zsh`.
_viaduct() {{
  local at='' i
  local -a candidates
  for i in "${{(@)words[2,CURRENT-1]}}"; do
    case "$at $i" in
{}    esac
  done
  case "$at" in
{}  esac
  _describe viaduct candidates || _files
}}
_viaduct "$@"
)",
                     Steps(places), words);
}

std::string FishCompletion(const CLI::App& app) {
  std::string text = "# Printed by `viaduct docs completion fish`.\n";
  for (const CommandPlace& place : PlacesOf(app)) {
    const auto below = ShownSubcommands(*place.app);
    std::vector<std::string> names;
    names.reserve(below.size());
    for (const CLI::App* each : below) names.push_back(each->get_name());
    std::string seen, rest = place.path;
    while (!rest.empty()) {
      const size_t space = rest.find(' ');
      seen +=
          (seen.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + rest.substr(0, space));
      rest = space == std::string::npos ? "" : rest.substr(space + 1);
    }
    const std::string here = place.path.empty() ? "__fish_use_subcommand" : seen;
    const std::string first = place.path.empty() || names.empty()
                                  ? here
                                  : fmt::format("{}; and not __fish_seen_subcommand_from {}", seen,
                                                fmt::join(names, " "));
    for (const CLI::App* each : below) {
      text += fmt::format("complete -c viaduct -f -n {} -a {} -d {}\n", Quoted(first),
                          each->get_name(), Quoted(each->get_description()));
    }
    if (place.path.empty()) {
      text += fmt::format("complete -c viaduct -f -n {} -a help -d {}\n", Quoted(here),
                          Quoted("print the help of a command"));
    }
    if (const std::string names = NamesFor(place); !names.empty()) {
      text += fmt::format("complete -c viaduct -f -n {} -a {}\n", Quoted(here),
                          Quoted("(" + names + ")"));
    }
    for (const CLI::Option* option : ShownOptions(*place.app)) {
      for (const std::string& name : option->get_lnames()) {
        const std::string values = Values("--" + name);
        text += fmt::format("complete -c viaduct -n {} -l {} -d {}{}{}\n", Quoted(here), name,
                            Quoted(option->get_description()), TakesValue(*option) ? " -r" : "",
                            values.empty() ? "" : " -f -a " + Quoted(values));
      }
    }
  }
  return text;
}

}  // namespace viaduct::cli
