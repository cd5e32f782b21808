#include "run/machines/placement.h"

#include <fmt/format.h>

#ifdef VIADUCT_HAS_METIS
#include <dlfcn.h>
#include <metis.h>
#endif

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "scenario/machines.h"

namespace viaduct::machines {
namespace {

using scenario::LinkSettings;
using scenario::Scenario;

constexpr double kRateOfPlainWire = 10e9;  // bit/s, of a link without a rate

double RateOf(const path::Spec& spec) {
  return static_cast<double>(spec.link.rate.value_or(static_cast<int64_t>(kRateOfPlainWire)));
}

// Returns the sum of the rates of both directions of a link, in bit/s.
double RateOf(const LinkSettings& link) {
  return RateOf(link.up.value_or(link.spec)) + RateOf(link.down.value_or(link.spec));
}

#ifdef VIADUCT_HAS_METIS

// The library METIS (Apache-2.0), which is opened when it is needed, because the command is not
// linked with this library.
class Metis {
 public:
  // Opens the library. Throws EnvironmentError if this machine does not have it.
  Metis() {
    void* const library = dlopen("libmetis.so.5", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      throw EnvironmentError(fmt::format(
          "placing nodes without on_machine needs METIS (libmetis5): {}; install METIS, or set "
          "on_machine for every node",
          dlerror()));
    }
    set_default_options =
        Find<decltype(&METIS_SetDefaultOptions)>(library, "METIS_SetDefaultOptions");
    recursive = Find<decltype(&METIS_PartGraphRecursive)>(library, "METIS_PartGraphRecursive");
    kway = Find<decltype(&METIS_PartGraphKway)>(library, "METIS_PartGraphKway");
  }

  decltype(&METIS_SetDefaultOptions) set_default_options;
  decltype(&METIS_PartGraphRecursive) recursive;
  decltype(&METIS_PartGraphKway) kway;

 private:
  template <class Function>
  static Function Find(void* library, const char* name) {
    void* const found = dlsym(library, name);
    if (found == nullptr)
      throw EnvironmentError(fmt::format("libmetis.so.5 does not contain the function {}", name));
    return reinterpret_cast<Function>(found);
  }
};

// The scenario as a graph: its vertices are the nodes; all nodes of a shared link are one vertex.
class Graph {
 public:
  explicit Graph(const Scenario& scenario) : leaders_(scenario.nodes.size()) {
    std::iota(leaders_.begin(), leaders_.end(), 0);
    for (size_t i = 0; i < scenario.nodes.size(); ++i) numbers_[scenario.nodes[i].name] = i;
    for (const LinkSettings& link : scenario.links) {
      if (link.kind == lab::Link::Kind::kPair) continue;
      for (const auto& node : link.nodes) leaders_[Leader(node)] = Leader(link.nodes.front());
    }
    for (const auto& node : scenario.nodes) {
      const size_t leader = Leader(node.name);
      vertices_.emplace(leader, vertices_.size());
    }
    weights_.resize(vertices_.size());
    for (const auto& node : scenario.nodes) ++weights_[VertexOf(node.name)];
    for (const LinkSettings& link : scenario.links) {
      if (link.kind == lab::Link::Kind::kPair) AddEdge(link);
    }
  }

  size_t VertexOf(const std::string& node) const { return vertices_.at(Leader(node)); }
  size_t size() const { return weights_.size(); }

  // Returns the partition, and so the machine, to which METIS assigns each vertex.
  std::vector<idx_t> Partition(size_t parts) {
    std::vector<idx_t> result(size());
    if (parts == 1) return result;
    std::vector<idx_t> starts{0}, neighbours, rates;
    for (size_t v = 0; v < size(); ++v) {
      for (const auto& [neighbour, rate] : edges_[v]) {
        neighbours.push_back(static_cast<idx_t>(neighbour));
        // The rate in Mbit/s, because METIS adds rates up in 32 bits.
        rates.push_back(static_cast<idx_t>(std::clamp(rate / 1e6, 1.0, 1e6)));
      }
      starts.push_back(static_cast<idx_t>(neighbours.size()));
    }
    auto vertices = static_cast<idx_t>(size());
    auto count = static_cast<idx_t>(parts);
    idx_t constraints = 1, cut = 0;
    idx_t options[METIS_NOPTIONS];
    const Metis metis;
    metis.set_default_options(options);
    options[METIS_OPTION_SEED] = 1;
    const auto method = parts <= 8 ? metis.recursive : metis.kway;
    if (method(&vertices, &constraints, starts.data(), neighbours.data(), weights_.data(), nullptr,
               rates.data(), &count, nullptr, nullptr, options, &cut, result.data()) != METIS_OK) {
      throw Error("METIS cannot place the nodes; set on_machine for every node");
    }
    return result;
  }

 private:
  size_t Leader(const std::string& node) const {
    size_t at = numbers_.at(node);
    while (leaders_[at] != at) at = leaders_[at];
    return at;
  }

  void AddEdge(const LinkSettings& link) {
    const size_t a = VertexOf(link.nodes[0]), b = VertexOf(link.nodes[1]);
    if (a == b) return;
    edges_[a][b] += RateOf(link);
    edges_[b][a] += RateOf(link);
  }

  std::map<std::string, size_t> numbers_;
  std::vector<size_t> leaders_;
  std::map<size_t, size_t> vertices_;  // the key is a node that represents the vertex
  std::vector<idx_t> weights_;
  std::map<size_t, std::map<size_t, double>> edges_;
};

// Returns the machine for each partition: if possible, the machine to which the scenario assigns
// nodes of the partition.
std::vector<size_t> MachinesOfParts(const Scenario& scenario, const Graph& graph,
                                    const std::vector<idx_t>& parts) {
  const size_t machines = scenario.machines.size();
  std::vector<std::vector<int>> votes(machines, std::vector<int>(machines));
  for (const auto& node : scenario.nodes) {
    if (node.on_machine.empty()) continue;
    ++votes[parts[graph.VertexOf(node.name)]][scenario::MachineNumber(scenario, node.on_machine)];
  }
  std::vector<size_t> order(machines), result(machines, machines);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](size_t part) { return std::ranges::max(votes[part]); });
  std::vector<bool> taken(machines);
  for (const size_t part : order) {
    size_t best = machines;
    for (size_t machine = 0; machine < machines; ++machine) {
      if (!taken[machine] && (best == machines || votes[part][machine] > votes[part][best]))
        best = machine;
    }
    taken[best] = true;
    result[part] = best;
  }
  return result;
}

void Partition(Scenario& scenario) {
  Graph graph(scenario);
  const std::vector<idx_t> parts = graph.Partition(scenario.machines.size());
  const std::vector<size_t> machines = MachinesOfParts(scenario, graph, parts);
  std::map<size_t, std::string> given;  // machine that the user has set; key: vertex
  for (const auto& node : scenario.nodes) {
    if (!node.on_machine.empty()) given.emplace(graph.VertexOf(node.name), node.on_machine);
  }
  for (auto& node : scenario.nodes) {
    if (!node.on_machine.empty()) continue;
    const size_t vertex = graph.VertexOf(node.name);
    const auto own = given.find(vertex);
    node.on_machine =
        own != given.end() ? own->second : scenario.machines[machines[parts[vertex]]].name;
  }
}

#else

void Partition(Scenario& scenario) {
  const auto node =
      std::ranges::find(scenario.nodes, std::string(), &scenario::NodeSettings::on_machine);
  throw EnvironmentError(
      fmt::format("{}: node {} has no on_machine, and this viaduct was built without METIS, which "
                  "places nodes (libmetis-dev); set on_machine for every node",
                  scenario.file, node->name));
}

#endif

}  // namespace

void PlaceNodes(Scenario& scenario) {
  if (std::ranges::any_of(scenario.nodes, [](const auto& n) { return n.on_machine.empty(); })) {
    Partition(scenario);
  }
  for (const scenario::Machine& machine : scenario.machines) {
    const auto is_its = [&](const auto& node) { return node.on_machine == machine.name; };
    if (std::ranges::any_of(scenario.nodes, is_its)) continue;
    throw UsageError(fmt::format("{}: machine {} has no node; remove the machine from machines",
                                 scenario.file, machine.name));
  }
  scenario::CheckPlaces(scenario);
}

double CutRate(const Scenario& scenario) {
  double rate = 0;
  for (const LinkSettings& link : scenario.links) {
    if (scenario::IsBetweenMachines(scenario, link)) rate += RateOf(link);
  }
  return rate;
}

}  // namespace viaduct::machines
