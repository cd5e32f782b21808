// viaduct version, and the hidden viaduct docs.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/listings.h"
#include "cli/output.h"
#include "path/spec/spec.h"
#include "result/document.h"
#include "run/environment.h"
#include "scenario/keys.h"

namespace viaduct::cli {

void AddVersion(CLI::App& app, Invocation&) {
  CLI::App* command = app.add_subcommand("version", "print the version");
  const auto as_json = AddJsonFlag(*command, "for machines; with the machine's kernel");
  command->footer("Example:\n  viaduct version --json");
  command->callback([as_json] {
    if (*as_json) {
      result::Environment environment = run::DescribeEnvironment({});
      environment.started.clear();
      PrintJson(environment);
    } else {
      std::printf("viaduct %s\n", run::Version().c_str());
    }
  });
}

void AddDocs(CLI::App& app, Invocation&) {
  auto topic = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("docs", "print a generated document");
  command->add_option("TOPIC", *topic, "scenario, path-spec or results")
      ->required()
      ->check(CLI::IsMember({"scenario", "path-spec", "results"}));
  command->group("");  // hidden
  command->callback([topic] {
    const std::string text = *topic == "path-spec" ? path::DocumentSpec()
                             : *topic == "results" ? result::DocumentResults() + DocumentListings()
                                                   : scenario::DocumentKeys();
    std::fputs(text.c_str(), stdout);
  });
}

}  // namespace viaduct::cli
