// Changes of a running path: what `viaduct path set` and a schedule do.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "engine/engine.h"

namespace viaduct::engine {

// Which pipelines a change concerns.
struct Target {
  std::string pair;        // "*": every pair
  std::string class_name;  // empty: what no class matches
  bool up = false, down = false;
};

struct SpecChange {
  Target target;
  std::string text;  // as path::ChangeSpec() takes it
};

// Knows the SPEC that every pipeline of an engine is to have, so that a change need only name what
// it changes and a link that was down comes back as it was. One thread.
class LivePath {
 public:
  // `apply`: engine::Engine::Apply, or a test's.
  LivePath(const Config& config, std::function<void(const Change&)> apply);

  // Changes the keys that the texts give. UsageError where a text or a target is wrong or the
  // engine refuses: then nothing has changed.
  void Set(const std::vector<SpecChange>& changes);
  void Set(const Target& target, const std::string& text) { Set({{target, text}}); }
  // A link that is down loses every packet that comes; what is under way still arrives.
  void SetLink(const Target& target, bool up);

  // UsageError if there is no such pair or class.
  void Check(const Target& target) const;

 private:
  using Key = std::tuple<std::string, std::string, Direction>;
  struct State {
    path::Spec spec;  // while the link is up
    bool is_down = false;
  };
  using States = std::map<Key, State>;

  void Add(const Pair& pair, const std::string& class_name, const path::Spec& up,
           const path::Spec& down);
  // Those of the target in `states`.
  std::vector<Key> KeysOf(const Target& target) const;
  // Brings the engine from states_ to `wanted`, wholly or not at all.
  void Become(States wanted);
  static path::Spec Effective(const State& state);

  std::function<void(const Change&)> apply_;
  States states_;
};

}  // namespace viaduct::engine
