#include "run/separate_run.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/text/json_text.h"
#include "base/wait_status.h"
#include "sys/descriptors.h"
#include "sys/event_loop.h"
#include "sys/process/child.h"
#include "sys/process/process.h"
#include "sys/signals.h"

namespace viaduct::run {
namespace {

using nlohmann::json;
using scenario::Scenario;

volatile pid_t running_child = 0;  // the child process to which the signal handler forwards signals

void PassOn(int signal) {
  if (running_child > 0) kill(running_child, signal);
}

void SetSignalHandlers(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (signal != SIGHUP || !sys::IgnoresHangUp()) sigaction(signal, &action, nullptr);
  }
}

// Executes the run, writes its results to the descriptor, and returns the exit status.
int ExecuteInto(int results_fd, const Scenario& scenario, const RunOptions& options) {
  const auto fail = [&](const std::exception& error, ExitStatus status) {
    std::fprintf(stderr, "viaduct: mode %s: %s\n", scenario::ModeName(scenario.mode), error.what());
    return static_cast<int>(status);
  };
  try {
    const result::RunResult results = Execute(scenario, options);
    WriteAll(results_fd, JsonText(json(results)), "the results");
    return results.status;
  } catch (const sys::Interrupted& interrupted) {
    return 128 + interrupted.signal();
  } catch (const Error& error) {
    return fail(error, error.status());
  } catch (const std::exception& error) {
    return fail(error, ExitStatus::kFailure);
  }
}

}  // namespace

SeparateRun ExecuteSeparately(const Scenario& scenario, const RunOptions& options) {
  sys::Pipe pipe = sys::MakePipe();
  SetSignalHandlers(PassOn);
  const pid_t child = SystemCall("fork", fork());
  if (child == 0) {
    SetSignalHandlers(SIG_DFL);
    const int status = ExecuteInto(pipe.write.get(), scenario, options);
    std::fflush(nullptr);
    sys::ExitForked(status);
  }
  running_child = child;
  pipe.write.reset();
  const std::string text = ReadToEnd(pipe.read.get(), "the results");
  const int status = sys::AwaitChild(child);
  running_child = 0;
  SeparateRun run;
  run.status = ShellStatus(status);
  const json results = json::parse(text, nullptr, false);
  if (results.is_object()) run.results = results.get<result::RunResult>();
  return run;
}

}  // namespace viaduct::run
