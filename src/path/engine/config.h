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

// One end of a pair: a port, or the frames of one VLAN or MPLS label on a port. The tag is removed
// before a frame enters the path, and the far end's tag is added after the frame has left the path.
struct Attachment {
  size_t port = 0;               // index into the engine's ports
  std::optional<uint16_t> vlan;  // 1..4094 (IEEE 802.1Q)
  std::optional<uint32_t> mpls;  // 16..1048575 (RFC 3032)
  // On a port of many links: the VLAN tag (1..4094) that identifies one of the links. Only the port
  // and the engine see the tag: unlike `vlan`, it is not on the link, and its bytes are not
  // counted.
  std::optional<uint16_t> channel = {};
  friend bool operator==(const Attachment&, const Attachment&) = default;
};

// A class of a pair's packets.
using Class = path::TrafficClass;

struct Pair {
  std::string name;  // unique in an engine
  Attachment a, b;
  path::Spec up, down;  // up: a to b, down: b to a; for packets that no class matches
  std::vector<Class> classes;
};

// The method by which a thread waits for the next deadline (measurements:
// docs/decisions/waiting.md).
enum class Waiting {
  kHybrid,     // sleep until shortly before the deadline, then spin
  kCpuSaving,  // sleep only
  kBusy,       // spin only
};

struct Config {
  std::string name;                // name of the run, for the control socket and the statistics
  std::vector<std::string> ports;  // the ports' names for messages and statistics, by index
  std::vector<Pair> pairs;
  uint64_t seed = 1;
  int64_t memory = int64_t{512} << 20;  // maximum memory for all waiting frames, in bytes
  // The maximum frame length in bytes, without the pair's tag. Longer frames are dropped and
  // counted (`too_long`). Zero: the frame length of the port with the largest MTU, including two
  // VLAN tags of the user.
  size_t frame_bytes = 0;
  // Directories for spilled frames, used alternately; empty: no spilling.
  std::vector<std::string> spill;
  Waiting waiting = Waiting::kHybrid;
  int threads = 1;        // pairs are distributed over threads
  std::vector<int> cpus;  // the threads' processors, in order; empty: threads are not pinned
  std::optional<std::string> trace;  // file for every packet's fate, .jsonl or .pcapng
  std::optional<std::string> log;    // file in the format path::TraceFormat::kLinkLog
};

}  // namespace viaduct::engine
