#include "cli/labs.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "broker/broker_process.h"

namespace viaduct::cli {

std::string StateOf(const lab::RunInfo& run) {
  std::error_code error;
  if (!run.alive) return "dead";
  return std::filesystem::exists(broker::ControlSocketPath(run.lab), error) ? "up" : "running";
}

std::vector<lab::RunInfo> LabsThatAreUp() {
  std::vector<lab::RunInfo> labs;
  for (lab::RunInfo& run : lab::ListRuns()) {
    if (StateOf(run) == "up") labs.push_back(std::move(run));
  }
  return labs;
}

std::string ChooseLab(const std::string& given) {
  if (!given.empty()) return given;
  const std::vector<lab::RunInfo> labs = LabsThatAreUp();
  if (labs.empty()) throw UsageError("no lab is up; start one with viaduct up FILE.yaml");
  if (labs.size() == 1) return labs[0].lab;
  std::string names;
  for (const lab::RunInfo& run : labs) names += (names.empty() ? "" : ", ") + run.lab;
  throw UsageError(fmt::format("several labs are up ({}); name one", names));
}

}  // namespace viaduct::cli
