// The differential test of the data planes as a benchmark: counts how many of many random packets
// through random networks arrive elsewhere, or with other contents, than with the kernel's own
// forwarding.
//
//   plane-packets --packets=100000 --networks=20 --seed=1 [--plane=ebpf]...
//
// Prints JSON: for each plane the number of packets sent, and of packets that arrived differently,
// with a description of the first of these. The n-th network has the seed SEED + n. Needs root.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text/json_text.h"
#include "lab/broker/test/plane_comparison.h"
#include "program.h"

namespace viaduct::bench {
namespace {

constexpr size_t kShown = 10;

struct Options {
  int packets = 100'000, networks = 20;
  uint64_t seed = 1;
  std::vector<std::string> planes;
};

struct Counts {
  uint64_t sent = 0, forwarded = 0, disagree = 0;
  std::vector<std::string> first;  // descriptions of the first packets that disagree
};

std::vector<const fib::DataPlane*> PlanesOf(const Options& options) {
  if (options.planes.empty()) return broker::test::ComparedPlanes();
  std::vector<const fib::DataPlane*> planes;
  for (const std::string& name : options.planes) {
    planes.push_back(fib::FindDataPlane(name));
    if (planes.back() == nullptr) {
      throw UsageError(
          fmt::format("--plane={}: the data planes are {}", name, fib::DataPlaneNames()));
    }
  }
  return planes;
}

void Keep(uint64_t seed, const std::vector<std::string>& lines, Counts* counts) {
  counts->disagree += lines.size();
  for (const std::string& line : lines) {
    if (counts->first.size() == kShown) return;
    counts->first.push_back(fmt::format("seed {}: {}", seed, line));
  }
}

nlohmann::json Compare(const Options& options) {
  const std::vector<const fib::DataPlane*> planes = PlanesOf(options);
  const int packets = options.packets / options.networks;
  std::vector<Counts> counts(planes.size());
  for (int i = 0; i < options.networks; ++i) {
    const uint64_t seed = options.seed + static_cast<uint64_t>(i);
    std::map<broker::test::EqualPaths, broker::test::Arrivals> kernel;
    for (size_t j = 0; j < planes.size(); ++j) {
      const auto paths = broker::test::PathsFor(*planes[j]);
      if (!kernel.contains(paths)) {
        kernel[paths] = broker::test::SendThrough(fib::kKernelPlane, seed, packets, paths);
      }
      const auto seen = broker::test::SendThrough(*planes[j], seed, packets, paths);
      auto lines = broker::test::Differences(seen, kernel[paths]);
      const std::string otherwise = broker::test::ForwardedOtherwise(seen, kernel[paths]);
      if (!otherwise.empty()) lines.push_back(otherwise);
      Keep(seed, lines, &counts[j]);
      counts[j].sent += static_cast<uint64_t>(packets);
      counts[j].forwarded += seen.by_plane;
    }
  }
  nlohmann::json report = {{"seed", options.seed}, {"networks", options.networks}};
  for (size_t j = 0; j < planes.size(); ++j) {
    report["planes"].push_back({{"plane", planes[j]->name},
                                {"sent", counts[j].sent},
                                {"forwarded", counts[j].forwarded},
                                {"disagree", counts[j].disagree},
                                {"first", counts[j].first}});
  }
  return report;
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("compares the data planes, packet by packet");
  app.add_option("--packets", options.packets, "in all")->check(CLI::PositiveNumber);
  app.add_option("--networks", options.networks, "how many")->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed, "of the first network");
  app.add_option("--plane", options.planes, "compared with the kernel; default: all");
  CLI11_PARSE(app, argc, argv);
  broker::test::PinToOneProcessor();
  std::printf("%s\n", JsonText(Compare(options)).c_str());
  return 0;
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) {
  return viaduct::bench::ExitStatusOf("plane-packets",
                                      [&] { return viaduct::bench::Main(argc, argv); });
}
