#include "base/result/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/result/engine.h"
#include "base/result/hub.h"
#include "base/result/load.h"
#include "base/result/run.h"

namespace viaduct::result {
namespace {

constexpr const char* kHead = R"(# Results

Printed by `viaduct docs results` from the tables with which results are written and read (`src/base/result`); do not edit
this file by hand. The keys in the tables "Promised" are promised ([promises](promises.md)): flows, losses, timing, verdicts, routes.
The keys in the tables "Diagnostic" help to find a cause and may change with any release. More keys of either kind may be added.

`flows[].loss` is the key `loss` of each map in the list `flows`; `*` stands for a name. A key that has no value in a mode or for a kind of flow is absent. Shares are from 0 to 1. Times have their unit
in the name of the key or are in seconds.
)";

// The keys of results that docs/promises.md promises; a document may have only some of them. A key
// without a dot at its end stands for itself and all keys below it; a key with a dot at its end
// stands only for the keys below it.
constexpr std::array<std::string_view, 58> kPromised = {"scenario.name",
                                                        "scenario.hash",
                                                        "scenario.seed",
                                                        "scenario.mode",
                                                        "scenario.duration",
                                                        "scenario.effective",
                                                        "environment.viaduct",
                                                        "environment.kernel",
                                                        "environment.started",
                                                        "environment.command",
                                                        "environment.ns3",
                                                        "setup_seconds",
                                                        "convergence.",
                                                        "flows[].name",
                                                        "flows[].kind",
                                                        "flows[].from",
                                                        "flows[].to",
                                                        "flows[].group",
                                                        "flows[].error",
                                                        "flows[].sent",
                                                        "flows[].received",
                                                        "flows[].loss",
                                                        "flows[].not_offered",
                                                        "flows[].lost_at",
                                                        "flows[].cut",
                                                        "flows[].rate_bit_per_s",
                                                        "flows[].packets_per_s",
                                                        "flows[].retransmits",
                                                        "flows[].rtt_ms",
                                                        "flows[].delay_ms",
                                                        "flows[].samples",
                                                        "flows[].gaps",
                                                        "programs[].",
                                                        "events[].",
                                                        "reconvergence[].",
                                                        "pipelines[].pair",
                                                        "pipelines[].direction",
                                                        "pipelines[].spec",
                                                        "pipelines[].arrived",
                                                        "pipelines[].fates",
                                                        "pipelines[].duplicated",
                                                        "pipelines[].corrupted",
                                                        "pipelines[].marked",
                                                        "pipelines[].reordered",
                                                        "pipelines[].waiting",
                                                        "data_planes.*.name",
                                                        "data_planes.*.packets",
                                                        "data_planes.*.drops",
                                                        "timing.",
                                                        "routes",
                                                        "route_changes[].",
                                                        "captures[].",
                                                        "clients[].",
                                                        "frames.",
                                                        "verdict",
                                                        "judged",
                                                        "not_judged",
                                                        "failures"};

bool IsPromised(std::string_view path) {
  // The prefix of the path engine's keys in the results of a run; in the results of a path these
  // keys have no prefix.
  constexpr std::string_view kEngine = "engine.";
  if (path.starts_with(kEngine)) path.remove_prefix(kEngine.size());
  return path == "status" || std::ranges::any_of(kPromised, [&](std::string_view key) {
           if (!path.starts_with(key)) return false;
           const std::string_view rest = path.substr(key.size());
           return rest.empty() || key.back() == '.' || rest.front() == '.' ||
                  rest.starts_with("[]");
         });
}

std::string Table(const std::string& title, const std::vector<fields::DocumentRow>& rows,
                  bool promised) {
  std::string table;
  for (const auto& [path, value, meaning] : rows) {
    if (IsPromised(path) != promised) continue;
    table += fmt::format("| `{}` | {} | {} |\n", path, value, meaning);
  }
  if (table.empty()) return "";
  return fmt::format("\n{}:\n\n| key | value | meaning |\n|---|---|---|\n{}", title, table);
}

}  // namespace

std::string Chapter(const std::string& title, const std::string& text,
                    const std::vector<fields::DocumentRow>& rows) {
  return fmt::format("\n## {}\n\n{}\n", title, text) + Table("Promised", rows, true) +
         Table("Diagnostic", rows, false);
}

std::string DocumentResults() {
  return kHead +
         Chapter<RunResult>(
             "viaduct run --json",
             "The results of one run; also the content of `results.json` of `--report`. With "
             "`--compare` the output is `{\"runs\": [...]}`, with one such map for each mode.") +
         Chapter<EngineResult>(
             "viaduct path --json, path stats --json, shell --json",
             "The statistics of a path; also the reply of the path's control socket to `stats`.") +
         Chapter<HubResult>("viaduct hub --json", "The results of a hub.") +
         Chapter<Environment>("viaduct version --json",
                              "The keys of `environment`, except those that only runs have.") +
         Chapter<LoadSent>("viaduct-load send --json", "The sending end of a UDP flow.") +
         Chapter<LoadReceived>("viaduct-load receive --json", "The receiving end of a UDP flow.") +
         Chapter<LoadPinged>("viaduct-load ping --json",
                             "The round-trip times of ICMP echo requests.");
}

}  // namespace viaduct::result
