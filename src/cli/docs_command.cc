// viaduct docs: prints the documents that are generated from the tables and options of the program.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/result/document.h"
#include "base/text/edit_distance.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/listings.h"
#include "cli/manual.h"
#include "cli/output.h"
#include "path/spec/spec.h"
#include "run/report/page/page.h"
#include "scenario/keys.h"

namespace viaduct::cli {
namespace {

struct Topic {
  const char* name;
  std::string (*print)(const CLI::App& app);
};

constexpr Topic kTopics[] = {
    {"scenario", [](const CLI::App&) { return scenario::DocumentKeys(); }},
    {"schema", [](const CLI::App&) { return scenario::DocumentSchema(); }},
    {"path-spec", [](const CLI::App&) { return path::DocumentSpec(); }},
    {"results", [](const CLI::App&) { return result::DocumentResults() + DocumentListings(); }},
    {"view", [](const CLI::App&) { return run::page::ViewPage(); }},  // used only by `viaduct view`
    {"man", ManualPage},
    {"completion-bash", BashCompletion},
    {"completion-zsh", ZshCompletion},
    {"completion-fish", FishCompletion},
};

void PrintTopic(const CLI::App& app, const std::vector<std::string>& words) {
  const std::string name = fmt::format("{}", fmt::join(words, "-"));
  std::vector<std::string> known;
  for (const Topic& topic : kTopics) {
    if (name == topic.name) return PrintText(topic.print(app));
    if (topic.name != std::string("view")) known.emplace_back(topic.name);
  }
  const std::string hint = DidYouMean(name, known);
  throw UsageError(
      fmt::format("there is no document '{}'{} expected scenario, schema, path-spec, "
                  "results, man, completion bash, completion zsh or completion fish",
                  fmt::join(words, " "), hint.empty() ? ";" : hint));
}

}  // namespace

void AddDocs(CLI::App& app, Invocation&) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand(
      "docs", "print the keys of scenarios and results, the manual, or a shell completion script");
  command
      ->add_option(
          "TOPIC", *words,
          "the document: scenario, schema (the JSON Schema of scenario files), path-spec, results, "
          "man, or completion bash|zsh|fish")
      ->required()
      ->expected(1, 2);
  command->footer(
      "Examples:\n  viaduct docs path-spec\n  viaduct docs man | man -l -\n"
      "  source <(viaduct docs completion bash)");
  command->callback([words, &app] { PrintTopic(app, *words); });
}

}  // namespace viaduct::cli
