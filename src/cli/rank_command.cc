// viaduct rank: the command that mpirun starts on each machine of a lab (run/machines/launch.h).
// Not for users.
#include "cli/command.h"
#include "cli/privilege.h"
#include "run/machines/rank.h"

namespace viaduct::cli {

void AddRank(CLI::App& app, Invocation& invocation) {
  CLI::App* command =
      app.add_subcommand("rank", "run one machine's part of a lab on several machines");
  command->group("");  // hides the command from --help
  command->footer(
      "Example: viaduct run, which starts this command on each machine of the scenario.");
  command->callback([&invocation] { invocation.status = machines::RunRank(NeedRoot); });
}

}  // namespace viaduct::cli
