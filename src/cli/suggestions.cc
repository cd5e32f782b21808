#include "cli/suggestions.h"

#include "base/text/edit_distance.h"

namespace viaduct::cli {

std::vector<std::string> SubcommandsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(each->get_name());
  }
  return names;
}

std::vector<std::string> OptionsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

const CLI::App& LastParsed(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  return parsed.empty() ? app : LastParsed(*parsed.front());
}

std::string SuggestionFor(const CLI::App& app) {
  const std::vector<std::string> rest = app.remaining(true);
  if (rest.empty()) return "";
  const std::string word = rest.front().substr(0, rest.front().find('='));
  const CLI::App& last = LastParsed(app);
  return DidYouMean(word, word.starts_with("-") ? OptionsOf(last) : SubcommandsOf(last));
}

}  // namespace viaduct::cli
