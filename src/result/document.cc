#include "result/document.h"

#include <fmt/format.h>

#include "result/engine.h"
#include "result/hub.h"
#include "result/load.h"
#include "result/run.h"

namespace viaduct::result {
namespace {

constexpr const char* kHead = R"(# Results

Printed by `viaduct docs results` from the tables that write and read them (`src/result`); do not edit
it by hand. These keys are promised ([promises](promises.md)); more may be added.

`flows[].loss` is the key `loss` of each map in the list `flows`; `*` stands for a name. A key without a value in a mode or for a kind of flow is absent. Shares are 0 to 1, and times have their unit in the
name of the key or are in seconds.
)";

}  // namespace

std::string Chapter(const std::string& title, const std::string& text,
                    const std::vector<DocumentRow>& rows) {
  std::string chapter =
      fmt::format("\n## {}\n\n{}\n\n| key | value | meaning |\n|---|---|---|\n", title, text);
  for (const auto& [path, value, meaning] : rows) {
    chapter += fmt::format("| `{}` | {} | {} |\n", path, value, meaning);
  }
  return chapter;
}

std::string DocumentResults() {
  return kHead +
         Chapter<RunResult>(
             "viaduct run --json",
             "The results of one run; also `results.json` of `--report`. With `--compare`: "
             "`{\"runs\": [...]}`, one of these for each mode.") +
         Chapter<EngineResult>("viaduct path --json, path stats --json, shell --json",
                               "Also the answer of a path's control socket to `stats`.") +
         Chapter<HubResult>("viaduct hub --json", "The results of a hub.") +
         Chapter<Environment>("viaduct version --json", "Without the keys that only runs have.") +
         Chapter<LoadSent>("viaduct-load send --json", "The sending end of a UDP flow.") +
         Chapter<LoadReceived>("viaduct-load receive --json", "The receiving end.") +
         Chapter<LoadPinged>("viaduct-load ping --json", "Round trips of ICMP echo.");
}

}  // namespace viaduct::result
