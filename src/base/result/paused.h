// The state of a paused simulation, for `viaduct ls SIMULATION` and the page of `viaduct view`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/result/engine.h"

namespace viaduct::result {

struct PausedInterface {
  std::string name, link, mac;
  int mtu = 0;  // bytes
  bool up = false;
  std::vector<std::string> addresses;
  std::optional<uint64_t> waiting, dropped;  // packets

  static fields::KeysOf<PausedInterface> Keys();
};

struct PausedNode {
  std::string name, stack;
  std::vector<PausedInterface> interfaces;
  std::vector<std::string> routes;

  static fields::KeysOf<PausedNode> Keys();
};

struct PausedNetwork {
  std::string name;
  std::vector<std::string> ends;
  bool up = true;
  std::vector<PipelineResult> statistics;

  static fields::KeysOf<PausedNetwork> Keys();
};

struct PausedState {
  std::string simulation;
  double time = 0;  // time of the simulation, s
  std::vector<PausedNode> nodes;
  std::vector<PausedNetwork> links;
  std::map<std::string, std::string> next;

  static fields::KeysOf<PausedState> Keys();
};

// Formats the state of a paused simulation as tables for people.
std::string FormatPaused(const PausedState& state);

// Returns the chapter of docs/results.md about paused simulations.
std::string DocumentPaused();

}  // namespace viaduct::result
