#include "run/separate_run.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "base/error.h"
#include "base/fd.h"
#include "sys/event_loop.h"
#include "sys/process.h"

namespace viaduct::run {
namespace {

using nlohmann::json;
using scenario::Scenario;

volatile pid_t running_child = 0;  // for the signal handler

void PassOn(int signal) {
  if (running_child > 0) kill(running_child, signal);
}

void SetSignalHandlers(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

void Write(int fd, std::string_view text) {
  while (!text.empty()) {
    text.remove_prefix(SystemCall("write the results", write(fd, text.data(), text.size())));
  }
}

// The exit status.
int ExecuteInto(int results_fd, const Scenario& scenario, const RunOptions& options) {
  const auto fail = [&](const std::exception& error, ExitStatus status) {
    std::fprintf(stderr, "viaduct: mode %s: %s\n", scenario::ModeName(scenario.mode), error.what());
    return static_cast<int>(status);
  };
  try {
    const json results = Execute(scenario, options);
    Write(results_fd, results.dump());
    return results.at("status").get<int>();
  } catch (const sys::Interrupted& interrupted) {
    return 128 + interrupted.signal();
  } catch (const Error& error) {
    return fail(error, error.status());
  } catch (const std::exception& error) {
    return fail(error, ExitStatus::kFailure);
  }
}

std::string ReadAll(int fd) {
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer, static_cast<size_t>(got));
  }
}

}  // namespace

SeparateRun ExecuteSeparately(const Scenario& scenario, const RunOptions& options) {
  int ends[2];
  SystemCall("pipe", pipe2(ends, O_CLOEXEC));
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  SetSignalHandlers(PassOn);
  const pid_t child = SystemCall("fork", fork());
  if (child == 0) {
    SetSignalHandlers(SIG_DFL);
    const int status = ExecuteInto(writer.get(), scenario, options);
    std::fflush(nullptr);
    sys::ExitForked(status);
  }
  running_child = child;
  writer.reset();
  const std::string text = ReadAll(reader.get());
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  running_child = 0;
  return {json::parse(text, nullptr, false),
          WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
}

}  // namespace viaduct::run
