// viaduct-load: measured UDP traffic between two ends.
#include <csignal>
#include <cstdio>

#include "base/error.h"
#include "load/options.h"
#include "load/report.h"

namespace {

std::atomic<bool> stop = false;

// No SA_RESTART: a blocked call must return.
void StopOnSignals() {
  struct sigaction action {};
  action.sa_handler = [](int) { stop = true; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

template <class Options, class Result>
void Print(const Options& options, const Result& result, bool json) {
  const auto report = viaduct::load::Report(options, result);
  const std::string text =
      json ? nlohmann::json(report).dump() + "\n" : viaduct::load::ToText(report);
  std::fputs(text.c_str(), stdout);
}

void Run(const viaduct::load::CommandLine& line) {
  if (line.send) {
    Print(*line.send, viaduct::load::Send(*line.send, stop), line.json);
    return;
  }
  const auto listening = [&] {
    std::fprintf(stderr, "listening on UDP port %d\n", line.receive->socket.port);
  };
  Print(*line.receive, viaduct::load::Receive(*line.receive, stop, listening), line.json);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    StopOnSignals();
    Run(viaduct::load::ParseCommandLine(argc, argv));
    return 0;
  } catch (const viaduct::Error& error) {
    std::fprintf(stderr, "viaduct-load: %s\n", error.what());
    return static_cast<int>(error.status());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "viaduct-load: %s\n", error.what());
    return 1;
  }
}
