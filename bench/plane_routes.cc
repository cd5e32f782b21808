// Measures how fast Viaduct writes routes into a data plane, through the interface that its
// simulator uses (fib::RouteSink).
//
//   plane-routes --routes=100000
//     Adds, replaces and removes the routes in the kernel's table of a new namespace, and prints
//     the duration of each of the three as JSON.
//   plane-routes --routes=100000 --lab=LAB --node=r1 --interface=eth1 --gateway=10.0.0.6
//     Adds the routes to a node of a lab that is up, through its broker; the routes remain.
//
// The destinations of the routes are single addresses, beginning with 172.16.0.0. Needs root.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/text/json_text.h"
#include "lab/broker/client.h"
#include "plane/fib/kernel_routes.h"
#include "program.h"
#include "sys/network/netns.h"

namespace viaduct::bench {
namespace {

constexpr uint32_t kFirstDestination = 0xac100000;  // 172.16.0.0
constexpr const char* kGateway = "10.0.0.2";
constexpr const char* kOtherGateway = "10.0.0.3";

struct Options {
  int routes = 1, first = 0;
  std::string lab, node, interface, gateway;
};

Options Parse(int argc, char** argv) {
  Options options;
  CLI::App app("puts routes into a data plane");
  app.add_option("--routes", options.routes, "how many")->check(CLI::Range(1, 1 << 20));
  app.add_option("--first", options.first, "addresses before these are left out")
      ->check(CLI::NonNegativeNumber);
  auto* lab = app.add_option("--lab", options.lab, "a lab that is up; else a scratch namespace");
  for (auto& [name, value] : {std::pair{"--node", &options.node},
                              {"--interface", &options.interface},
                              {"--gateway", &options.gateway}}) {
    lab->needs(app.add_option(name, *value, "where to, in the lab"));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

std::vector<fib::Route> MakeRoutes(const Options& options, const std::string& gateway,
                                   const std::string& interface) {
  const fib::NextHop hop{wire::IpAddress::Parse(gateway), interface};
  std::vector<fib::Route> routes;
  routes.reserve(static_cast<size_t>(options.routes));
  for (int i = options.first; i < options.first + options.routes; ++i) {
    const uint32_t destination = kFirstDestination + static_cast<uint32_t>(i);
    routes.push_back({{wire::IpAddress::FromIpv4(destination), 32}, {hop}});
  }
  return routes;
}

struct Cost {
  double seconds = 0;
  double cpu_seconds = 0;  // CPU time of this process, including its time in the kernel
};

Cost CostToApply(fib::RouteSink& sink, std::vector<fib::Route> fib::RouteChanges::*part,
                 const std::vector<fib::Route>& routes) {
  fib::RouteChanges changes;
  changes.*part = routes;
  const Instant start = MonotonicClock::Now();
  const std::clock_t cpu_start = std::clock();
  sink.Apply(changes);
  return {(MonotonicClock::Now() - start).ToSeconds(),
          static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC};
}

void to_json(nlohmann::json& json, const Cost& cost) {
  json = {{"seconds", cost.seconds}, {"cpu_seconds", cost.cpu_seconds}};
}

// Creates two interfaces that are wired to each other; the gateways are behind the first interface.
void MakeInterface() {
  sys::Netlink netlink;
  sys::VethEnd end, peer;
  end.name = "eth0";
  peer.name = "peer0";
  netlink.CreateVethPair(end, peer);
  for (const char* name : {"peer0", "eth0"}) netlink.SetUp(netlink.IfIndex(name), true);
  netlink.AddAddress(netlink.IfIndex("eth0"), wire::IpPrefix::Parse("10.0.0.1/24"));
}

nlohmann::json MeasureKernel(const Options& options) {
  nlohmann::json report;
  sys::InScratchNamespace([&] {
    MakeInterface();
    const UniqueFd place = sys::OpenCurrentNamespace();
    fib::KernelRoutes sink(place.get());
    const std::vector<fib::Route> routes = MakeRoutes(options, kGateway, "eth0");
    const std::vector<fib::Route> others = MakeRoutes(options, kOtherGateway, "eth0");
    report["add"] = CostToApply(sink, &fib::RouteChanges::added, routes);
    report["replace"] = CostToApply(sink, &fib::RouteChanges::replaced, others);
    report["remove"] = CostToApply(sink, &fib::RouteChanges::removed, others);
  });
  return report;
}

nlohmann::json AddToLab(const Options& options) {
  auto client = std::make_shared<broker::Client>(broker::Client::ConnectToLab(options.lab));
  broker::NodeRoutes sink(client, options.node);
  const auto routes = MakeRoutes(options, options.gateway, options.interface);
  return {{"add", CostToApply(sink, &fib::RouteChanges::added, routes)}};
}

int Main(int argc, char** argv) {
  const Options options = Parse(argc, argv);
  nlohmann::json report = options.lab.empty() ? MeasureKernel(options) : AddToLab(options);
  report["routes"] = options.routes;
  std::printf("%s\n", JsonText(report).c_str());
  return 0;
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) {
  return viaduct::bench::ExitStatusOf("plane-routes",
                                      [&] { return viaduct::bench::Main(argc, argv); });
}
