// viaduct version: prints the version of the command.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output.h"
#include "run/simulator/environment.h"

namespace viaduct::cli {

void AddVersion(CLI::App& app, Invocation&) {
  CLI::App* command = app.add_subcommand("version", "print the version");
  const auto as_json =
      AddJsonFlag(*command, "print JSON, with the environment, such as the machine's kernel");
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

}  // namespace viaduct::cli
