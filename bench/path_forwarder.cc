// The path emulator's engine between two interfaces of the namespace it runs in, without what the
// command `viaduct path` adds: for measuring the engine alone.
//
//   path-forwarder [--up SPEC] [--down SPEC] [--links N] [--memory BYTES] [--spill DIRECTORY]...
//                  [--threads N] [--cpus LIST] [--waiting hybrid|cpu-saving|busy] INTERFACE
//                  INTERFACE
//
// Runs until SIGINT or SIGTERM, then prints its statistics as JSON. With --links above 1 there is
// a pair for each of the VLANs 1..N.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/units.h"
#include "engine/engine.h"
#include "io/ring_port.h"
#include "packet_socket.h"

namespace viaduct::bench {
namespace {

struct Options {
  std::string up, down, memory = "512M", waiting = "hybrid";
  std::vector<std::string> interfaces, spill;
  std::vector<int> cpus;
  int links = 0, threads = 1;
};

Options Parse(int argc, char** argv) {
  Options options;
  CLI::App app("The path emulator's engine between two interfaces.", "path-forwarder");
  app.add_option("interfaces", options.interfaces)->expected(2)->required();
  app.add_option("--up", options.up, "SPEC from the first to the second");
  app.add_option("--down", options.down, "SPEC from the second to the first");
  app.add_option("--links", options.links, "pairs, by VLAN 1..N; 0: one, untagged");
  app.add_option("--memory", options.memory, "limit of all frames that wait");
  app.add_option("--spill", options.spill, "directories");
  app.add_option("--threads", options.threads);
  app.add_option("--cpus", options.cpus, "where threads are pinned")->delimiter(',');
  app.add_option("--waiting", options.waiting)
      ->check(CLI::IsMember({"hybrid", "cpu-saving", "busy"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    std::exit(app.exit(success));
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  return options;
}

engine::Config Configure(const Options& options) {
  engine::Config config;
  config.name = "path-forwarder";
  config.ports = options.interfaces;
  config.memory = ParseBytes(options.memory);
  config.spill = options.spill;
  config.threads = options.threads;
  config.cpus = options.cpus;
  config.waiting =
      std::map<std::string, engine::Waiting>{{"hybrid", engine::Waiting::kHybrid},
                                             {"cpu-saving", engine::Waiting::kCpuSaving},
                                             {"busy", engine::Waiting::kBusy}}
          .at(options.waiting);
  const path::Spec up = path::ParseSpec(options.up), down = path::ParseSpec(options.down);
  for (int i = 1; i <= std::max(options.links, 1); ++i) {
    engine::Pair pair{"link" + std::to_string(i), {0, {}, {}}, {1, {}, {}}, up, down, {}};
    if (options.links > 0) pair.a.vlan = pair.b.vlan = static_cast<uint16_t>(i);
    config.pairs.push_back(pair);
  }
  return config;
}

nlohmann::json ToJson(const engine::Statistics& statistics) {
  path::Counters sum;
  for (const engine::PipelineStatistics& each : statistics.pipelines) {
    sum.arrived += each.counters.arrived;
    for (size_t i = 0; i < sum.fates.size(); ++i) sum.fates[i] += each.counters.fates[i];
  }
  const Histogram& late = statistics.lateness;
  nlohmann::json json = {{"arrived", sum.arrived},
                         {"fates", sum.fates},
                         {"late_us",
                          {{"mean", late.Mean() / 1e3},
                           {"p50", late.Quantile(0.5) / 1e3},
                           {"p99", late.Quantile(0.99) / 1e3},
                           {"p99.9", late.Quantile(0.999) / 1e3},
                           {"max", late.Max() / 1e3}}},
                         {"memory_peak", statistics.memory_peak},
                         {"spilled_peak", statistics.spilled_peak}};
  for (const engine::PortStatistics& port : statistics.ports) {
    json["ports"].push_back({{"rx", port.counters.rx_frames},
                             {"tx", port.counters.tx_frames},
                             {"ring_full", port.counters.rx_dropped_ring_full},
                             {"tx_error", port.counters.tx_dropped_error},
                             {"unmatched", port.unmatched},
                             {"up", port.up}});
  }
  return json;
}

void AwaitSignal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  int signal = 0;
  sigwait(&set, &signal);
}

void BlockSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

int Main(int argc, char** argv) {
  try {
    const Options options = Parse(argc, argv);
    BlockSignals();
    std::vector<std::unique_ptr<io::AnyPort>> ports;
    for (const std::string& interface : options.interfaces) {
      ports.push_back(
          io::Hold(io::RingPort(OpenPacketSocket(), {.ifindex = InterfaceIndex(interface)})));
    }
    engine::Engine engine(Configure(options), std::move(ports));
    engine.Start();
    std::fprintf(stderr, "forwarding\n");
    AwaitSignal();
    const engine::Statistics statistics = engine.Read();
    engine.Stop();
    std::puts(ToJson(statistics).dump().c_str());
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "path-forwarder: %s\n", error.what());
    return static_cast<int>(error.status());
  }
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) { return viaduct::bench::Main(argc, argv); }
