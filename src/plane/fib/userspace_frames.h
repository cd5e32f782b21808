// The data planes that forward frames in a separate process, by a table that the node's protocol in
// the simulator writes. The forwarding program is a program of the scenario, or the program of an
// RBridge (WMRP).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plane/fib/data_plane.h"
#include "plane/fib/rbridge_events.h"
#include "plane/forward/equipment.h"
#include "plane/forward/program_description.h"
#include "plane/forward/shared_memory.h"

namespace viaduct::fib {

class UserspaceFrames : public RouteSink {
 public:
  // Uses the program that `place` names. Throws UsageError if `place` names no program, Error if
  // there is no shared memory.
  explicit UserspaceFrames(const NodePlace& place);

  std::map<std::string, std::map<std::string, uint64_t>> PacketCounters() const override;
  std::map<std::string, uint64_t> Drops() const override;
  std::optional<forward::SharedWith> Shared() const override;
  std::optional<forward::ControlMemory> Control() const override;

 protected:
  UserspaceFrames(const NodePlace& place, forward::ProgramDescription program);
  std::span<forward::Word> Table() { return table_.mapping.writable(); }

 private:
  void DoApply(const RouteChanges& changes) override;

  forward::ProgramDescription program_;
  std::vector<std::string> interfaces_;
  forward::SharedMemory table_, counters_;
  EventMemory events_;
};

class UserspaceRBridge final : public UserspaceFrames {
 public:
  // Creates tables that the forwarder can read at once: the tables of an RBridge that has no
  // nickname and therefore forwards nothing.
  explicit UserspaceRBridge(const NodePlace& place);
};

}  // namespace viaduct::fib
