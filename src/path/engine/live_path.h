// Changes of a running path, made by `viaduct path set` and by schedules.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "path/engine/engine.h"

namespace viaduct::engine {

// The pipelines that a change applies to.
struct Target {
  std::string pair;        // "*": every pair
  std::string class_name;  // empty: packets that no class matches
  bool up = false, down = false;
};

struct SpecChange {
  Target target;
  std::string text;  // the keys to change, for path::ChangeSpec()
};

// Keeps the intended SPEC of every pipeline of an engine, so that a change need only name the keys
// that it changes, and a link that was down returns to its former state. For use by one thread.
class LivePath {
 public:
  // `check`: engine::Engine::Check, `apply`: engine::Engine::Apply; or functions of a test.
  LivePath(const Config& config, std::function<void(const Change&)> check,
           std::function<void(const Change&)> apply);

  // Changes the keys that the texts of `changes` give. Throws UsageError, and changes nothing, if a
  // text or a target is wrong or the engine refuses a change.
  void Set(const std::vector<SpecChange>& changes);
  void Set(const Target& target, const std::string& text) { Set({{target, text}}); }
  // Sets the links of a target up or down. A link that is down loses every packet that arrives;
  // packets in flight are still delivered.
  void SetLink(const Target& target, bool up);

 private:
  using Key = std::tuple<std::string, std::string, Direction>;
  struct State {
    path::Spec spec;  // the SPEC while the link is up
    bool is_down = false;
  };
  using States = std::map<Key, State>;
  struct Step {
    Change before, after;
  };

  void Add(const Pair& pair, const std::string& class_name, const path::Spec& up,
           const path::Spec& down);
  // Returns the keys in states_ that the target selects.
  std::vector<Key> KeysOf(const Target& target) const;
  // Returns the changes from states_ to `wanted`, in an order in which the engine can make them.
  std::vector<Step> StepsTo(const States& wanted) const;
  // Changes the engine from states_ to `wanted`, either completely or not at all.
  void Become(States wanted);
  static path::Spec Effective(const State& state);

  std::function<void(const Change&)> check_, apply_;
  States states_;
};

}  // namespace viaduct::engine
