#include "cli/labs.h"

#include <algorithm>

namespace viaduct::cli {

std::vector<lab::RunInfo> LabsThatAreUp() {
  std::vector<lab::RunInfo> labs;
  for (lab::RunInfo& run : lab::ListRuns()) {
    if (StateOf(run) == "up") labs.push_back(std::move(run));
  }
  return labs;
}

std::string ChooseLab(const std::string& given) {
  if (!given.empty()) return given;
  const sys::FindWords words{"no lab is up; start one with viaduct up FILE.yaml", "",
                             "several labs are up ({}); specify one"};
  return sys::FindLive<lab::RunInfo>(
             LabsThatAreUp(), [](const auto&) { return true; }, words)
      .name;
}

std::optional<guest::PausedSimulation> PausedUnlessLab(const std::string& name) {
  const auto labs = LabsThatAreUp();
  const bool is_lab = std::ranges::find(labs, name, &lab::RunInfo::name) != labs.end();
  return is_lab ? std::nullopt : guest::LookForPaused(name);
}

}  // namespace viaduct::cli
