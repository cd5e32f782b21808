#include "base/result/engine.h"

namespace viaduct::result {

using fields::Always;
using fields::Among;
using fields::WhenSet;

fields::KeysOf<PipelineResult> PipelineResult::Keys() {
  using P = PipelineResult;
  static constexpr fields::Key<P> kKeys[] = {
      Always<&P::pair>("pair", "text",
                       "the name of the pair of interfaces; in a scenario the link, or LINK.NODE "
                       "for a shared link"),
      Always<&P::class_name>("class", "text",
                             "the class of packets; empty for packets that match no class"),
      Always<&P::direction>("direction", "up or down",
                            "up: from the first interface to the second"),
      Always<&P::spec>("spec", "a SPEC", "what the pipeline currently does to packets"),
      Always<&P::arrived>("arrived", "packets", "packets that entered the pipeline"),
      Always<&P::arrived_bytes>("arrived_bytes", "bytes", "the bytes of the packets that entered"),
      Always<&P::delivered_bytes>("delivered_bytes", "bytes",
                                  "the bytes of the packets that left the pipeline"),
      Always<&P::fates>(
          "fates", "packets, by outcome",
          "what happened to the packets: `delivered`, `lost` (by the SPEC's loss), `bad_fcs` "
          "(flipped bits, with fcs=drop), `queue_full`, `aqm` (dropped by active queue "
          "management), `no_memory` (the memory limit was reached), `disk_behind` (the disk for "
          "queued frames was too slow or full), `no_binding` (the NAT had no binding for the "
          "packet, or no free port), `refused` (the outgoing interface was down or missing, or has "
          "a smaller MTU)"),
      Always<&P::duplicated>(
          "duplicated", "packets",
          "copies of packets that the pipeline created; `fates` counts each copy as a packet"),
      Always<&P::corrupted>("corrupted", "packets", "packets with flipped bits"),
      Always<&P::flipped_bits>("flipped_bits", "bits", "the total number of flipped bits"),
      Always<&P::marked>("marked", "packets", "packets marked with ECN CE"),
      Always<&P::reordered>("reordered", "packets",
                            "packets that overtook others because of the SPEC's reorder"),
      Always<&P::waiting>("waiting", "packets",
                          "packets in the pipeline when these statistics were written"),
      Always<&P::waiting_bytes>("waiting_bytes", "bytes", "the bytes of the packets in `waiting`"),
  };
  return kKeys;
}

fields::KeysOf<FrameCounters> FrameCounters::Keys() {
  using C = FrameCounters;
  static constexpr fields::Key<C> kKeys[] = {
      Always<&C::rx_frames>("rx_frames", "frames", "frames received from the interface"),
      Always<&C::rx_bytes>("rx_bytes", "bytes", "the bytes of the received frames"),
      Always<&C::tx_frames>("tx_frames", "frames", "frames sent to the interface"),
      Always<&C::tx_bytes>("tx_bytes", "bytes", "the bytes of the sent frames"),
      Always<&C::rx_dropped_ring_full>("rx_dropped_ring_full", "frames",
                                       "frames lost because Viaduct was too slow to receive them"),
      Always<&C::rx_dropped_truncated>(
          "rx_dropped_truncated", "frames",
          "frames lost because they were longer than the port's maximum"),
      Always<&C::tx_dropped_error>("tx_dropped_error", "frames",
                                   "frames that the interface refused"),
  };
  return kKeys;
}

fields::KeysOf<PortResult> PortResult::Keys() {
  static constexpr fields::Key<PortResult> kKeys[] = {
      Always<&PortResult::name>("name", "text", "the interface"),
      Always<&PortResult::up>("up", "true or false",
                              "false if the interface is down or no longer exists"),
      Among<&PortResult::frames>(),
      Always<&PortResult::unmatched>(
          "unmatched", "frames",
          "frames dropped because they belong to no pair (another VLAN or label)"),
      Always<&PortResult::too_long>(
          "too_long", "frames",
          "frames dropped because they are longer than the MTU of every port"),
      Always<&PortResult::access>(
          "access", "text",
          "the method of access to the interface's frames, for example an AF_PACKET ring"),
  };
  return kKeys;
}

fields::KeysOf<MemoryResult> MemoryResult::Keys() {
  using M = MemoryResult;
  static constexpr fields::Key<M> kKeys[] = {
      Always<&M::used>("used", "bytes", "frame memory in use"),
      Always<&M::peak>("peak", "bytes", "the highest value of `used`"),
      Always<&M::spilled>("spilled", "bytes", "the size of the frames on disk"),
      Always<&M::spilled_peak>("spilled_peak", "bytes", "the highest value of `spilled`"),
      WhenSet<&M::spill_trouble>("spill_trouble", "text", "the last disk error"),
  };
  return kKeys;
}

fields::KeysOf<DrainResult> DrainResult::Keys() {
  using D = DrainResult;
  static constexpr fields::Key<D> kKeys[] = {
      Always<&D::seconds>("seconds", "s",
                          "how long the path continued to run after the program ended"),
      Always<&D::packets>("packets", "packets", "packets still in the path when it was stopped"),
      Always<&D::connections>(
          "connections", "connections",
          "TCP connections of the program that still had data to send when the path was stopped"),
  };
  return kKeys;
}

fields::KeysOf<EngineResult> EngineResult::Keys() {
  using E = EngineResult;
  static constexpr fields::Key<E> kKeys[] = {
      WhenSet<&E::name>("name", "text", "the name of the path, the shell or the lab"),
      WhenSet<&E::started>("started", "UTC, ISO 8601", "the time at which the path began"),
      WhenSet<&E::seed>("seed", "a whole number", "the seed of the random streams"),
      WhenSet<&E::seconds>("seconds", "s", "the running time of the path or the lab"),
      Always<&E::pipelines>("pipelines", "a list of maps",
                            "one map for each pair, class and direction"),
      Always<&E::ports>("ports", "a list of maps", "one map for each interface"),
      Always<&E::memory>("memory", "a map", "the memory of queued frames"),
      Always<&E::timing>(
          "timing", "a map",
          "the lateness of packets: the time from when a packet was due until it was sent"),
      Always<&E::verdict>(
          "verdict", "VALID, VOID or not judged",
          "VOID: `p99_ns` is above the limit, or more than 1 in 100 frames was lost because "
          "Viaduct was too slow to receive it or had no memory or disk space for it; not judged: "
          "there is no limit, no packet was measured, or there are `failures`"),
      WhenSet<&E::drain>("drain", "a map",
                         "what was cut off when the path of `viaduct shell` ended"),
      WhenSet<&E::failures>("failures", "a list of text",
                            "what was not done as requested: records missing from the trace or the "
                            "log, scheduled changes that could not be made"),
      WhenSet<&E::environment>(
          "environment", "a map",
          "the machine and the program; only with `--json` of `viaduct path` and `viaduct shell`"),
  };
  return kKeys;
}

}  // namespace viaduct::result
