#include "path/engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/mutex.h"
#include "base/stamp_mapper.h"
#include "base/wire/ethernet.h"
#include "path/engine/classifier.h"
#include "path/engine/loop.h"
#include "path/engine/trace_file.h"
#include "path/model/nat.h"
#include "path/queue/shared_link.h"

namespace viaduct::engine {
namespace {

// Determines which sides of ports must be on the same thread. A pipeline joins the receiving side
// of one port with the sending side of another. Sides that no pipeline joins share nothing, so that
// one pair of interfaces can use two threads, one for each direction.
class Sides {
 public:
  explicit Sides(const Config& config) : ports_(config.ports.size()), parents_(2 * ports_) {
    std::iota(parents_.begin(), parents_.end(), 0);
    for (const Pair& pair : config.pairs) {
      Join(Receiving(pair.a.port), Sending(pair.b.port));
      Join(Receiving(pair.b.port), Sending(pair.a.port));
    }
    JoinSharedLinks(config);
  }
  size_t Receiving(size_t port) const { return port; }
  size_t Sending(size_t port) const { return ports_ + port; }
  size_t count() const { return parents_.size(); }
  size_t Root(size_t side) const {
    while (parents_[side] != side) side = parents_[side];
    return side;
  }

 private:
  // Joins the sides of directions that share a link, because these directions need one thread.
  void JoinSharedLinks(const Config& config) {
    std::map<std::string, size_t> first;
    const auto join = [&](const path::Spec& spec, size_t side) {
      if (spec.link.shared) Join(first.try_emplace(*spec.link.shared, side).first->second, side);
    };
    for (const Pair& pair : config.pairs) {
      const size_t up = Receiving(pair.a.port), down = Receiving(pair.b.port);
      join(pair.up, up), join(pair.down, down);
      for (const Class& each : pair.classes) join(each.up, up), join(each.down, down);
    }
  }
  void Join(size_t a, size_t b) { parents_[Root(a)] = Root(b); }

  size_t ports_;
  std::vector<size_t> parents_;
};

// Returns the thread of each side. The groups of joined sides with the most pipelines are assigned
// first, each to the thread that has the fewest pipelines so far.
std::vector<size_t> Deal(const Config& config, const Sides& sides, size_t threads) {
  std::vector<size_t> weights(sides.count());
  for (const Pair& pair : config.pairs) {
    weights[sides.Root(sides.Receiving(pair.a.port))] += 1 + pair.classes.size();
    weights[sides.Root(sides.Receiving(pair.b.port))] += 1 + pair.classes.size();
  }
  std::vector<size_t> roots(sides.count());
  std::iota(roots.begin(), roots.end(), 0);
  std::stable_sort(roots.begin(), roots.end(),
                   [&](size_t a, size_t b) { return weights[a] > weights[b]; });
  std::vector<size_t> loads(threads), thread_of(sides.count());
  for (const size_t root : roots) {
    const auto least = std::min_element(loads.begin(), loads.end()) - loads.begin();
    thread_of[root] = static_cast<size_t>(least);
    loads[least] += weights[root];
  }
  for (size_t side = 0; side < sides.count(); ++side) thread_of[side] = thread_of[sides.Root(side)];
  return thread_of;
}

// Returns `config`; if the maximum frame length is not given, sets it from the MTUs of the ports.
Config Complete(Config config, const std::vector<std::unique_ptr<io::AnyPort>>& ports) {
  if (config.frame_bytes != 0) return config;
  constexpr size_t kHeaders = wire::EthernetHeader::kSize + 2 * wire::VlanTag::kSize;
  for (const auto& port : ports) {
    config.frame_bytes = std::max(config.frame_bytes, port->Mtu() + kHeaders);
  }
  return config;
}

void Check(const Config& config, size_t ports) {
  if (ports != config.ports.size()) {
    throw UsageError(fmt::format("the configuration names {} ports, but {} ports were passed",
                                 config.ports.size(), ports));
  }
  if (config.threads < 1) {
    throw UsageError(fmt::format("threads: {} is too low; specify at least 1", config.threads));
  }
}

// Returns the indices of the pair and of the class (0: no class) that a change names.
std::pair<size_t, size_t> Find(const Config& config, const Change& change) {
  const auto pair = std::find_if(config.pairs.begin(), config.pairs.end(),
                                 [&](const Pair& each) { return each.name == change.pair; });
  if (pair == config.pairs.end()) {
    throw UsageError(fmt::format("there is no pair {}", change.pair));
  }
  const auto index = static_cast<size_t>(pair - config.pairs.begin());
  if (change.class_name.empty()) return {index, 0};
  for (size_t i = 0; i < pair->classes.size(); ++i) {
    if (pair->classes[i].name == change.class_name) return {index, i + 1};
  }
  throw UsageError(fmt::format("pair {} has no class {}", change.pair, change.class_name));
}

// Constructs a pipeline to report errors of a SPEC or its files on the caller's thread. When the
// loop later reads the files, they are in the page cache.
void Try(const Config& config, const path::Spec& spec, size_t class_index) {
  MemoryBudget budget(config.memory);
  FramePool pool(budget, config.memory, config.frame_bytes);
  path::PipelineOptions options;
  path::SharedLinks links;
  options.read_file = ReadRegularFile;
  options.links = &links;
  options.nat = std::make_shared<path::Nat>(config.seed, "");
  options.is_class = class_index > 0;
  const path::Pipeline pipeline(spec, pool, std::move(options));
}

}  // namespace

ChangeTrial::ChangeTrial(const Config& config) : config_(config), trial_(ReadRegularFile) {
  for (size_t pair = 0; pair < config.pairs.size(); ++pair) {
    const auto nat = std::make_shared<path::Nat>(config.seed, config.pairs[pair].name);
    const auto add = [&](size_t class_index, const path::Spec& up, const path::Spec& down) {
      for (const Direction direction : {Direction::kUp, Direction::kDown}) {
        pipelines_[{pair, direction, class_index}] =
            trial_.Add(direction == Direction::kUp ? up : down, {nat, direction, class_index > 0});
      }
    };
    const Pair& entry = config.pairs[pair];
    add(0, entry.up, entry.down);
    for (size_t i = 0; i < entry.classes.size(); ++i) {
      add(i + 1, entry.classes[i].up, entry.classes[i].down);
    }
  }
  trial_.CheckLinks();
}

void ChangeTrial::Apply(const Change& change) {
  const auto [pair, class_index] = Find(config_, change);
  trial_.Change(pipelines_.at({pair, change.direction, class_index}), change.spec);
}

class Engine::Impl {
 public:
  Impl(Config config, std::vector<std::unique_ptr<io::AnyPort>> ports)
      : config_(Complete(std::move(config), ports)),
        ports_(std::move(ports)),
        replaced_(ports_.size()),
        classifier_((engine::Check(config_, ports_.size()), config_)),
        budget_(config_.memory) {
    const Sides sides(config_);
    const auto threads = static_cast<size_t>(config_.threads);
    thread_of_ = Deal(config_, sides, threads);
    for (size_t i = 0; i < threads; ++i) {
      loops_.push_back(std::make_unique<Loop>(config_, classifier_, budget_, clock_));
    }
    for (size_t i = 0; i < ports_.size(); ++i) {
      receivers_.push_back(loops_[thread_of_[sides.Receiving(i)]].get());
      senders_.push_back(loops_[thread_of_[sides.Sending(i)]].get());
      receivers_[i]->AddReceiver(i, ports_[i].get());
      senders_[i]->AddSender(i, ports_[i].get());
    }
    if (config_.trace) OpenTrace(*config_.trace, FormatOf(*config_.trace));
    if (config_.log) OpenTrace(*config_.log, path::TraceFormat::kLinkLog);
    for (const Pair& pair : config_.pairs) {
      nats_.push_back(std::make_shared<path::Nat>(config_.seed, pair.name));
    }
    uint32_t index = 0;
    ForEachPipeline([&](size_t pair, size_t class_index, Direction direction) {
      LoopOf(pair, direction).AddPipeline(pair, class_index, direction, nats_[pair], index++);
    });
    for (const auto& loop : loops_) loop->JoinReceivers();
  }

  ~Impl() { Stop(); }

  void Start() {
    const Instant now = clock_.Now();
    for (const auto& loop : loops_) loop->Begin(now);
    for (size_t i = 0; i < loops_.size(); ++i) {
      if (!loops_[i]->HasWork()) continue;
      const int cpu = config_.cpus.empty() ? -1 : config_.cpus[i % config_.cpus.size()];
      threads_.emplace_back([loop = loops_[i].get(), cpu] { loop->Run(cpu); });
    }
  }

  void Stop() {
    for (const auto& loop : loops_) loop->Stop();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    for (const auto& trace : traces_) trace->Finish();
  }

  void Check(const engine::Change& change) const {
    Try(config_, change.spec, Find(config_, change).second);
  }

  void Apply(const engine::Change& change) {
    const auto [index, class_index] = Find(config_, change);
    Loop& loop = LoopOf(index, change.direction);
    loop.Do([&, pair = index, place = class_index] {
      loop.Change(pair, place, change.direction, change.spec);
    });
  }

  Statistics Read() {
    Statistics statistics;
    for (const auto& port : config_.ports) statistics.ports.emplace_back().name = port;
    for (const auto& loop : loops_) loop->Do([&] { loop->AddTo(statistics); });
    for (const auto& trace : traces_) {
      if (const auto trouble = trace->Trouble()) statistics.trace_troubles.push_back(*trouble);
    }
    const MutexLock lock(ports_mutex_);
    for (size_t i = 0; i < ports_.size(); ++i) {
      statistics.ports[i].counters = replaced_[i];
      statistics.ports[i].counters += ports_[i]->Counters();
      statistics.ports[i].up = ports_[i]->Up();
      statistics.ports[i].access = ports_[i]->Description();
    }
    return statistics;
  }

  void ReplacePort(size_t port, std::unique_ptr<io::AnyPort> replacement) {
    const MutexLock lock(ports_mutex_);
    for (Loop* const loop : {receivers_.at(port), senders_.at(port)}) {
      loop->Do([&] { loop->ReplacePort(port, replacement.get()); });
    }
    replaced_[port] += ports_[port]->Counters();
    ports_[port] = std::move(replacement);
  }

 private:
  Loop& LoopOf(size_t pair, Direction direction) {
    const Pair& entry = config_.pairs[pair];
    return *receivers_[direction == Direction::kUp ? entry.a.port : entry.b.port];
  }

  // Calls `use` for each pipeline, in the order in which a pcapng trace numbers its interfaces.
  template <class Use>
  void ForEachPipeline(Use use) const {
    for (size_t i = 0; i < config_.pairs.size(); ++i) {
      for (const Direction direction : {Direction::kUp, Direction::kDown}) {
        for (size_t j = 0; j <= config_.pairs[i].classes.size(); ++j) use(i, j, direction);
      }
    }
  }

  static path::TraceFormat FormatOf(const std::string& trace) {
    if (trace.ends_with(".jsonl")) return path::TraceFormat::kJsonLines;
    if (trace.ends_with(".pcapng")) return path::TraceFormat::kPcapng;
    throw UsageError(fmt::format("trace {}: the file name must end in .jsonl or .pcapng", trace));
  }

  void OpenTrace(const std::string& file, path::TraceFormat format) {
    std::vector<std::string> names;
    ForEachPipeline([&](size_t pair, size_t class_index, Direction direction) {
      const Pair& entry = config_.pairs[pair];
      names.push_back(PipelineName(
          entry.name, class_index == 0 ? "" : entry.classes[class_index - 1].name, direction));
    });
    traces_.push_back(std::make_unique<TraceFile>(file));
    traces_.back()->Write(path::TraceHeader(format, names));
    for (const auto& loop : loops_) loop->AddTrace(traces_.back().get(), format);
  }

  const Config config_;
  std::vector<std::unique_ptr<io::AnyPort>> ports_ VIADUCT_GUARDED_BY(ports_mutex_);
  // The counters of ports that have been replaced, summed by index of the port.
  std::vector<io::PortCounters> replaced_ VIADUCT_GUARDED_BY(ports_mutex_);
  // The mutex separates threads that read statistics from threads that replace ports.
  Mutex ports_mutex_;
  const Classifier classifier_;
  SystemClock clock_;
  MemoryBudget budget_;
  std::vector<size_t> thread_of_;  // indexed by the side of a port (see Sides)
  std::vector<std::unique_ptr<TraceFile>> traces_;
  std::vector<std::unique_ptr<Loop>> loops_;
  std::vector<std::shared_ptr<path::Nat>> nats_;  // indexed by pair
  std::vector<Loop*> receivers_, senders_;        // indexed by port
  std::vector<std::thread> threads_;
};

Engine::Engine(Config config, std::vector<std::unique_ptr<io::AnyPort>> ports)
    : impl_(std::make_unique<Impl>(std::move(config), std::move(ports))) {}
Engine::~Engine() = default;
void Engine::Start() { impl_->Start(); }
void Engine::Stop() { impl_->Stop(); }
void Engine::Check(const Change& change) const { impl_->Check(change); }
void Engine::Apply(const Change& change) { impl_->Apply(change); }
Statistics Engine::Read() const { return impl_->Read(); }
void Engine::ReplacePort(size_t port, std::unique_ptr<io::AnyPort> replacement) {
  impl_->ReplacePort(port, std::move(replacement));
}

}  // namespace viaduct::engine
