// viaduct-load: measures UDP traffic between two ends, and round trips.
#include <csignal>
#include <cstdio>

#include "base/error.h"
#include "base/text/json_text.h"
#include "run/load/options.h"
#include "run/load/report.h"

namespace {

viaduct::load::ReceiveRequests requests;

// Sets signal handlers without SA_RESTART, so that a blocked call returns when a signal arrives.
void HandleSignals() {
  struct sigaction action {};
  action.sa_handler = [](int) { requests.stop = true; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = [](int) { requests.sender_ended = true; };
  sigaction(SIGUSR1, &action, nullptr);
}

template <class Options, class Result>
void Print(const Options& options, const Result& result, bool json) {
  const auto report = viaduct::load::Report(options, result);
  const std::string text =
      json ? viaduct::JsonText(nlohmann::json(report)) + "\n" : viaduct::load::ToText(report);
  std::fputs(text.c_str(), stdout);
}

void Run(const viaduct::load::CommandLine& line) {
  if (line.send) {
    Print(*line.send, viaduct::load::Send(*line.send, requests.stop), line.json);
    return;
  }
  if (line.ping) {
    Print(*line.ping, viaduct::load::Ping(*line.ping, requests.stop), line.json);
    return;
  }
  const auto listening = [&] {
    std::fprintf(stderr, "listening on UDP port %d\n", line.receive->socket.port);
  };
  Print(*line.receive, viaduct::load::Receive(*line.receive, requests, listening), line.json);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    HandleSignals();
    Run(viaduct::load::ParseCommandLine(argc, argv));
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return 0;
    throw viaduct::Error("standard output: cannot be written");
  } catch (const viaduct::Error& error) {
    std::fprintf(stderr, "viaduct-load: %s\n", error.what());
    return static_cast<int>(error.status());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "viaduct-load: %s\n", error.what());
    return 1;
  }
}
