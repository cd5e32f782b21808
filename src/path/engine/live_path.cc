#include "path/engine/live_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "path/model/nat.h"
#include "path/spec/spec.h"

namespace viaduct::engine {

LivePath::LivePath(const Config& config, std::function<void(const Change&)> check,
                   std::function<void(const Change&)> apply)
    : check_(std::move(check)), apply_(std::move(apply)) {
  for (const Pair& pair : config.pairs) {
    Add(pair, "", pair.up, pair.down);
    for (const Class& entry : pair.classes) Add(pair, entry.name, entry.up, entry.down);
  }
}

void LivePath::Add(const Pair& pair, const std::string& class_name, const path::Spec& up,
                   const path::Spec& down) {
  states_[{pair.name, class_name, Direction::kUp}] = {up, false};
  states_[{pair.name, class_name, Direction::kDown}] = {down, false};
}

std::vector<LivePath::Key> LivePath::KeysOf(const Target& target) const {
  std::vector<Key> keys;
  std::set<std::string> pairs;
  for (const auto& [key, state] : states_) {
    const auto& [pair, class_name, direction] = key;
    pairs.insert(pair);
    const bool wanted = direction == Direction::kUp ? target.up : target.down;
    if ((target.pair != "*" && target.pair != pair) || target.class_name != class_name) continue;
    if (wanted) keys.push_back(key);
  }
  if (!keys.empty()) return keys;
  if (target.pair != "*" && !pairs.contains(target.pair)) {
    throw UsageError(
        fmt::format("there is no pair {}; the pairs are {}", target.pair, fmt::join(pairs, ", ")));
  }
  throw UsageError(fmt::format("pair {} has no class {}", target.pair, target.class_name));
}

void LivePath::Set(const std::vector<SpecChange>& changes) {
  States wanted = states_;
  for (const auto& [target, text] : changes) {
    for (const Key& key : KeysOf(target)) {
      wanted[key].spec = path::ChangeSpec(wanted[key].spec, text);
    }
  }
  Become(std::move(wanted));
}

void LivePath::SetLink(const Target& target, bool up) {
  States wanted = states_;
  for (const Key& key : KeysOf(target)) wanted[key].is_down = !up;
  Become(std::move(wanted));
}

path::Spec LivePath::Effective(const State& state) {
  return state.is_down ? path::ChangeSpec(state.spec, "loss=100%") : state.spec;
}

// A pair has one NAT: one direction must release the NAT before the opposite direction gets it.
std::vector<LivePath::Step> LivePath::StepsTo(const States& wanted) const {
  std::vector<Step> steps;
  for (const auto& [key, state] : wanted) {
    const auto& [pair, class_name, direction] = key;
    const path::Spec before = Effective(states_.at(key)), after = Effective(state);
    if (before == after) continue;
    steps.push_back({{pair, class_name, direction, before}, {pair, class_name, direction, after}});
  }
  std::stable_partition(steps.begin(), steps.end(),
                        [](const Step& step) { return !step.after.spec.nat; });
  return steps;
}

// Undoing a change does not restore the state that the change has ended: bindings of a NAT, the
// state of a loss model. All checks that can be made in advance are therefore made before the first
// change.
void LivePath::Become(States wanted) {
  for (const auto& [key, state] : wanted) {
    const auto& [pair, class_name, direction] = key;
    if (direction == Direction::kDown || !state.spec.nat) continue;
    path::CheckOneNat(state.spec.nat, wanted.at({pair, class_name, Direction::kDown}).spec.nat);
  }
  const std::vector<Step> steps = StepsTo(wanted);
  for (const Step& step : steps) check_(step.after);
  size_t done = 0;
  try {
    for (; done < steps.size(); ++done) apply_(steps[done].after);
  } catch (...) {
    while (done > 0) apply_(steps[--done].before);
    throw;
  }
  states_ = std::move(wanted);
}

}  // namespace viaduct::engine
