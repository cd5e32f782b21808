#include "plane/fib/userspace_frames.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "plane/forward/rbridge_tables.h"

namespace viaduct::fib {
namespace {

const forward::ProgramDescription& ProgramOf(const NodePlace& place) {
  if (!place.program)
    throw UsageError(
        "the data plane of the node is a forwarding program, but no program is specified; set "
        "data_plane.program");
  return *place.program;
}

}  // namespace

UserspaceFrames::UserspaceFrames(const NodePlace& place)
    : UserspaceFrames(place, ProgramOf(place)) {}

UserspaceFrames::UserspaceFrames(const NodePlace& place, forward::ProgramDescription program)
    : program_(std::move(program)),
      interfaces_(place.ports),
      table_(forward::MakeSharedMemory("viaduct-table", std::max<size_t>(program_.table_words, 1),
                                       forward::Writers::kAll)),
      counters_(forward::Counters::Make(interfaces_.size())) {}

void UserspaceFrames::DoApply(const RouteChanges& changes) { RefuseRoutes(changes); }

std::optional<forward::SharedWith> UserspaceFrames::Shared() const {
  if (interfaces_.empty()) return std::nullopt;
  return forward::SharedWith{.program = program_,
                             .interfaces = interfaces_,
                             .table = table_.fd.get(),
                             .counters = counters_.fd.get(),
                             .events = events_.ring.fd.get(),
                             .doorbell = events_.doorbell.get()};
}

std::optional<forward::ControlMemory> UserspaceFrames::Control() const {
  return forward::ControlMemory{.table = table_.fd.get(),
                                .table_words = program_.table_words,
                                .events = events_.ring.fd.get(),
                                .doorbell = events_.bell.get()};
}

std::map<std::string, std::map<std::string, uint64_t>> UserspaceFrames::PacketCounters() const {
  const auto shared = Shared();
  if (!shared) return {};
  return forward::DescribeCounters(*shared, counters_.mapping.words());
}

std::map<std::string, uint64_t> UserspaceFrames::Drops() const {
  return FrameDrops(PacketCounters(), program_.losses);
}

UserspaceRBridge::UserspaceRBridge(const NodePlace& place)
    : UserspaceFrames(place, forward::DescribeKnown("rbridge")) {
  forward::RBridgeTablesWriter{Table()};
}

}  // namespace viaduct::fib
