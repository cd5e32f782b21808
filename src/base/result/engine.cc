#include "base/result/engine.h"

namespace viaduct::result {

using fields::Always;
using fields::Among;
using fields::WhenSet;

fields::KeysOf<PipelineResult> PipelineResult::Keys() {
  using P = PipelineResult;
  static constexpr fields::Key<P> kKeys[] = {
      Always<&P::pair>("pair", "text", "the pair of interfaces, or the link and its end"),
      Always<&P::class_name>("class", "text", "the class of packets; empty where there are none"),
      Always<&P::direction>("direction", "up or down",
                            "up: from the first interface to the second"),
      Always<&P::spec>("spec", "a SPEC", "what it does to packets now"),
      Always<&P::arrived>("arrived", "packets", "packets that entered"),
      Always<&P::arrived_bytes>("arrived_bytes", "bytes", "and their bytes"),
      Always<&P::delivered_bytes>("delivered_bytes", "bytes", "bytes of the packets that left"),
      Always<&P::fates>(
          "fates", "packets, by fate",
          "their fates: `delivered`, `lost`, `bad_fcs`, `queue_full`, `aqm`, "
          "`no_memory`, `disk_behind`, `no_binding` (nat); `refused`: by the far interface, which "
          "was down or gone, or has a smaller MTU"),
      Always<&P::duplicated>("duplicated", "packets", "created in addition; each has a fate, too"),
      Always<&P::corrupted>("corrupted", "packets", "with flipped bits"),
      Always<&P::flipped_bits>("flipped_bits", "bits", "flipped in total"),
      Always<&P::marked>("marked", "packets", "marked (ECN CE)"),
      Always<&P::reordered>("reordered", "packets", "not delayed, so that they overtook others"),
      Always<&P::waiting>("waiting", "packets", "in the pipeline when this was written"),
      Always<&P::waiting_bytes>("waiting_bytes", "bytes", "and their bytes"),
  };
  return kKeys;
}

fields::KeysOf<FrameCounters> FrameCounters::Keys() {
  using C = FrameCounters;
  static constexpr fields::Key<C> kKeys[] = {
      Always<&C::rx_frames>("rx_frames", "frames", "received from the interface"),
      Always<&C::rx_bytes>("rx_bytes", "bytes", "and their bytes"),
      Always<&C::tx_frames>("tx_frames", "frames", "sent to the interface"),
      Always<&C::tx_bytes>("tx_bytes", "bytes", "and their bytes"),
      Always<&C::rx_dropped_ring_full>("rx_dropped_ring_full", "frames",
                                       "lost because they arrived faster than they were read"),
      Always<&C::rx_dropped_truncated>("rx_dropped_truncated", "frames",
                                       "lost because they were longer than the port's maximum"),
      Always<&C::tx_dropped_error>("tx_dropped_error", "frames", "refused by the interface"),
  };
  return kKeys;
}

fields::KeysOf<PortResult> PortResult::Keys() {
  static constexpr fields::Key<PortResult> kKeys[] = {
      Always<&PortResult::name>("name", "text", "the interface"),
      Always<&PortResult::up>("up", "true or false", "false: it has vanished or is down"),
      Among<&PortResult::frames>(),
      Always<&PortResult::unmatched>(
          "unmatched", "frames", "dropped because they belong to no pair (another VLAN or label)"),
      Always<&PortResult::too_long>("too_long", "frames",
                                    "dropped because they are longer than the MTU of every port"),
      Always<&PortResult::access>("access", "text", "how its frames are had from the kernel"),
  };
  return kKeys;
}

fields::KeysOf<MemoryResult> MemoryResult::Keys() {
  using M = MemoryResult;
  static constexpr fields::Key<M> kKeys[] = {
      Always<&M::used>("used", "bytes", "frame memory in use"),
      Always<&M::peak>("peak", "bytes", "the most that was in use"),
      Always<&M::spilled>("spilled", "bytes", "frames on disk"),
      Always<&M::spilled_peak>("spilled_peak", "bytes", "the most that was on disk"),
      WhenSet<&M::spill_trouble>("spill_trouble", "text", "the last error of a disk"),
  };
  return kKeys;
}

fields::KeysOf<DrainResult> DrainResult::Keys() {
  using D = DrainResult;
  static constexpr fields::Key<D> kKeys[] = {
      Always<&D::seconds>("seconds", "s", "how long the path went on after the program's end"),
      Always<&D::packets>("packets", "packets", "in the path when it was stopped"),
      Always<&D::connections>("connections", "connections",
                              "TCP connections of the program that had still to send then"),
  };
  return kKeys;
}

fields::KeysOf<EngineResult> EngineResult::Keys() {
  using E = EngineResult;
  static constexpr fields::Key<E> kKeys[] = {
      WhenSet<&E::name>("name", "text", "the path's, the shell's or the lab's"),
      WhenSet<&E::started>("started", "UTC, ISO 8601", "when a path began"),
      WhenSet<&E::seed>("seed", "a whole number", "of the random streams"),
      WhenSet<&E::seconds>("seconds", "s", "how long it has run"),
      Always<&E::pipelines>("pipelines", "a list of maps",
                            "one for each pair, class and direction"),
      Always<&E::ports>("ports", "a list of maps", "one for each interface"),
      Always<&E::memory>("memory", "a map", "the memory of waiting frames"),
      Always<&E::timing>("timing", "a map", "from the instant a packet was due until it was sent"),
      Always<&E::verdict>("verdict", "VALID, VOID or not judged",
                          "VOID: `p99_ns` is above the limit, or of 100 frames more than one was "
                          "lost because it came faster than it could be read or found no room; "
                          "not judged: no limit, no packet, or `failures`"),
      WhenSet<&E::drain>("drain", "a map", "of `viaduct shell`: what was cut off at its end"),
      WhenSet<&E::failures>("failures", "a list of text",
                            "what was not done as asked: records that the trace or the log lack, "
                            "changes of the schedule that could not be made"),
      WhenSet<&E::environment>("environment", "a map",
                               "of `--json` of `viaduct path` and `viaduct shell`"),
  };
  return kKeys;
}

}  // namespace viaduct::result
