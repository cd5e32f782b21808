// The configuration of an engine: ports, pairs of attachments between them, a SPEC for each
// direction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "path/spec/spec.h"
#include "path/spec/traffic_class.h"

namespace viaduct::engine {

// One end of a pair: a port, or the frames of one VLAN or MPLS label on it. The tag is removed
// before the path, and the far end's is added after it.
struct Attachment {
  size_t port = 0;               // index into the engine's ports
  std::optional<uint16_t> vlan;  // 1..4094 (IEEE 802.1Q)
  std::optional<uint32_t> mpls;  // 16..1048575 (RFC 3032)
  // 1..4094. On a port of many links, the VLAN tag that identifies one of them. Only the port and
  // the engine see it: unlike `vlan` it is no part of what is on the link, and not counted.
  std::optional<uint16_t> channel = {};
  friend bool operator==(const Attachment&, const Attachment&) = default;
};

// A class of a pair's packets.
using Class = path::TrafficClass;

struct Pair {
  std::string name;  // unique in an engine
  Attachment a, b;
  path::Spec up, down;  // a to b, b to a: for packets that no class matches
  std::vector<Class> classes;
};

// The way a thread waits for the next deadline (measurements: docs/decisions/waiting.md).
enum class Waiting {
  kHybrid,     // sleep until shortly before, then spin
  kCpuSaving,  // sleep only
  kBusy,       // spin only
};

struct Config {
  std::string name;                // name of the run: control socket, statistics
  std::vector<std::string> ports;  // names for messages and statistics, by index
  std::vector<Pair> pairs;
  uint64_t seed = 1;
  int64_t memory = int64_t{512} << 20;  // bytes for all frames that wait
  // The maximum frame length, without the pair's tag. Longer frames are dropped and counted
  // (`too_long`). Zero: the frame length of the port with the largest MTU, with two VLAN tags of
  // the user.
  size_t frame_bytes = 0;
  std::vector<std::string> spill;  // directories, used in turn; empty: no spilling
  Waiting waiting = Waiting::kHybrid;
  int threads = 1;                   // pairs are distributed over threads
  std::vector<int> cpus;             // pinned to these, in order; empty: not pinned
  std::optional<std::string> trace;  // file: every packet's fate, .jsonl or .pcapng
  std::optional<std::string> log;    // file: path::TraceFormat::kLinkLog
};

}  // namespace viaduct::engine
