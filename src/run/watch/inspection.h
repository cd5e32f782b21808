// `viaduct ls LAB`: the current state of a lab's nodes and links, read from their kernels and the
// path engine.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/result/engine.h"
#include "base/time.h"

namespace viaduct::watch {

struct InspectedInterface {
  std::string name, link, mac;
  int mtu = 0;
  bool up = false, carrier = false;
  std::vector<std::string> addresses;
  uint64_t rx_packets = 0, rx_bytes = 0, rx_dropped = 0;
  uint64_t tx_packets = 0, tx_bytes = 0, tx_dropped = 0;

  static fields::KeysOf<InspectedInterface> Keys();
};

struct InspectedHop {
  std::string via, interface;

  static fields::KeysOf<InspectedHop> Keys();
};

struct InspectedRoute {
  std::string to;
  std::vector<InspectedHop> hops;
  uint32_t metric = 0;
  std::string from;

  static fields::KeysOf<InspectedRoute> Keys();
};

struct InspectedNode {
  std::string name, data_plane, reason;
  std::string program;  // the program, for data plane `program`
  // The number of received packets by interface and fate, and of lost packets by cause.
  std::map<std::string, std::map<std::string, uint64_t>> packets;
  std::map<std::string, uint64_t> drops;
  std::vector<InspectedInterface> interfaces;
  std::vector<InspectedRoute> routes;
  std::string routes_elsewhere;

  static fields::KeysOf<InspectedNode> Keys();
};

struct InspectedLink {
  std::string name, kind;
  std::vector<std::string> ends, specs;
  std::string emulator;
  std::vector<result::PipelineResult> statistics;

  static fields::KeysOf<InspectedLink> Keys();
};

// The process of data planes `userspace` and `program`, which forwards packets for the nodes with
// these data planes.
struct InspectedForwarder {
  int pid = 0;
  bool running = false;
  int restarts = 0;
  std::string last_words;

  static fields::KeysOf<InspectedForwarder> Keys();
};

struct Inspection {
  std::string lab;
  std::optional<InspectedForwarder> forwarder;
  std::vector<InspectedNode> nodes;
  std::vector<InspectedLink> links;
  std::string trouble;

  static fields::KeysOf<Inspection> Keys();
};

// Inspects a lab that is up; its path engine must answer within `timeout`. Throws UsageError if no
// lab of this name is up.
Inspection Inspect(const std::string& lab, Duration timeout);

// Returns the inspection as tables of text.
std::string FormatInspection(const Inspection& inspection);

// Returns the chapter of docs/results.md about the inspection.
std::string DocumentInspection();

}  // namespace viaduct::watch
