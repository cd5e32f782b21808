// The records that subcommands list, and print with --json (base/fields.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "guest/image/image.h"
#include "lab/record.h"

namespace viaduct::cli {

// A hub in the output of `viaduct ls`.
struct ListedHub {
  std::string kind = "hub", lab, name, state;
  int pid = 0;
  uint16_t port = 0;
  std::vector<std::string> nodes;
  uint32_t uid = 0;
  std::string created;

  static fields::KeysOf<ListedHub> Keys();
};

// A joined node in the output of `viaduct ls`.
struct ListedJoin {
  std::string kind = "joined node", lab, name, state;
  int pid = 0;
  std::string hub, node, interface;
  uint32_t uid = 0;
  std::string created;

  static fields::KeysOf<ListedJoin> Keys();
};

// A network of a paused simulation, in the output of `viaduct ls`.
struct ListedNetwork {
  std::string name;
  std::vector<std::string> nodes, interfaces;

  static fields::KeysOf<ListedNetwork> Keys();
};

// A paused simulation in the output of `viaduct ls`.
struct ListedPause {
  std::string kind = "paused simulation", lab, name, state;
  int pid = 0;
  double time = 0;
  std::vector<std::string> nodes, kernels;
  std::vector<ListedNetwork> links;
  uint32_t uid = 0;
  std::string created;

  static fields::KeysOf<ListedPause> Keys();
};

// A lab in the output of `viaduct ls`.
struct ListedLab {
  std::string kind = "lab", lab, state;
  int broker_pid = 0, engine_pid = 0;
  bool engine_alive = false;
  uint32_t uid = 0;
  std::string created;
  lab::SimulatorHistory simulator;
  lab::ForwarderHistory forwarder;

  static fields::KeysOf<ListedLab> Keys();
};

// A path in the output of `viaduct path ls`.
struct ListedPath {
  std::string name, state;
  int pid = 0;
  uint32_t uid = 0;
  std::vector<std::string> interfaces, pairs;
  std::string control, created;

  static fields::KeysOf<ListedPath> Keys();
};

// The result of `viaduct clean`: the names of removed entries and of entries left, and the
// problems.
struct Cleaning {
  std::vector<std::string> removed, left, problems;

  static fields::KeysOf<Cleaning> Keys();
};

// One result in the output of `viaduct doctor`.
struct Finding {
  std::string name, state, purpose, remedy, detail;

  static fields::KeysOf<Finding> Keys();
};

// A kernel in the output of `viaduct kernel list`.
struct ListedKernel {
  guest::Image image;
  std::string file;

  static fields::KeysOf<ListedKernel> Keys();
};

// The result of `viaduct kernel build`, which --json prints.
struct BuiltKernel {
  ListedKernel kernel;
  bool reused = false;
  double seconds = 0;

  static fields::KeysOf<BuiltKernel> Keys();
};

// Returns the chapters of docs/results.md about the records that subcommands list.
std::string DocumentListings();

}  // namespace viaduct::cli
