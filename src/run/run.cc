#include "run/run.h"

#include "run/run_kind.h"

namespace viaduct::run {

result::RunResult Execute(const scenario::Scenario& scenario, const RunOptions& options) {
  const bool is_simulated = scenario.mode == scenario::Mode::kSimulate;
  const auto make = is_simulated ? MakeSimulatedRun : MakeLabRun;
  return make(scenario, options)->Execute();
}

}  // namespace viaduct::run
