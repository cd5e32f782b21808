// The keys of the output of `viaduct top --json`.
#include "base/result/document.h"
#include "run/watch/snapshot.h"

namespace viaduct::watch {

using fields::Always, fields::Key, fields::KeysOf, fields::WhenSet;

KeysOf<Rates> Rates::Keys() {
  using R = Rates;
  static constexpr Key<R> kKeys[] = {
      Always<&R::in_packets>(
          "in_packets", "packets/s",
          "packets that entered the link or, for a hub, that arrived from the client"),
      Always<&R::in_bits>("in_bits", "bit/s", "the bits of the packets in `in_packets`"),
      Always<&R::out_packets>(
          "out_packets", "packets/s",
          "packets that left the link or, for a hub, that were sent to the client"),
      Always<&R::out_bits>("out_bits", "bit/s", "the bits of the packets in `out_packets`"),
      Always<&R::lost_packets>("lost_packets", "packets/s", "lost packets, for any cause"),
      WhenSet<&R::delay_ms>("delay_ms", "ms",
                            "the mean time that frames from the client waited for the simulation"),
  };
  return kKeys;
}

namespace {

constexpr char kTroubleHelp[] =
    "why `statistics` is missing; absent if `statistics` is present, or is not needed";

}  // namespace

KeysOf<LabView> LabView::Keys() {
  using V = LabView;
  static constexpr Key<V> kKeys[] = {
      Always<&V::name>("name", "text", "the name of the lab"),
      Always<&V::state>("state", "up, running or dead", "the state of the lab, as in `viaduct ls`"),
      Always<&V::nodes>("nodes", "a list of text", "the nodes of the lab"),
      Always<&V::pid>("pid", "a process", "the process ID of the lab's broker"),
      Always<&V::uid>("uid", "a user", "the user ID of the owner"),
      Always<&V::created>("created", "UTC, ISO 8601", "the time at which the lab was created"),
      WhenSet<&V::trouble>("trouble", "text", kTroubleHelp),
      Always<&V::simulator>("simulator", "a map",
                            "the history of the simulator of a lab that is up"),
      WhenSet<&V::statistics>("statistics", "a map",
                              "the statistics of the path engine; absent if there is no path "
                              "engine, or for the reason in `trouble`"),
      WhenSet<&V::rates>("rates", "a list of maps",
                         "the rates of each map of `statistics.pipelines`, in the same order"),
  };
  return kKeys;
}

KeysOf<PathView> PathView::Keys() {
  using V = PathView;
  static constexpr Key<V> kKeys[] = {
      Always<&V::name>("name", "text",
                       "the name of the path; the name of a shell's path is `vsh` and a number"),
      Always<&V::state>("state", "running or dead",
                        "dead: the process was killed and did not clean up"),
      Always<&V::pid>("pid", "a process", "the process ID of the path's keeper"),
      Always<&V::uid>("uid", "a user", "the user ID of the owner"),
      Always<&V::created>("created", "UTC, ISO 8601", "the time at which the process was started"),
      WhenSet<&V::trouble>("trouble", "text", kTroubleHelp),
      WhenSet<&V::statistics>("statistics", "a map",
                              "the statistics, as in `viaduct path stats --json`"),
      WhenSet<&V::rates>("rates", "a list of maps",
                         "the rates of each map of `statistics.pipelines`, in the same order"),
  };
  return kKeys;
}

KeysOf<HubView> HubView::Keys() {
  using V = HubView;
  static constexpr Key<V> kKeys[] = {
      Always<&V::name>("name", "text",
                       "the name of the scenario; with the pid if another hub has this name"),
      Always<&V::state>("state", "running or dead",
                        "dead: the process was killed and did not clean up"),
      Always<&V::pid>("pid", "a process", "the process ID of `viaduct hub`"),
      Always<&V::uid>("uid", "a user", "the user ID of the owner"),
      Always<&V::created>("created", "UTC, ISO 8601", "the time at which the process was started"),
      WhenSet<&V::trouble>("trouble", "text", kTroubleHelp),
      WhenSet<&V::statistics>("statistics", "a map",
                              "the statistics so far, as in `viaduct hub --json`"),
      WhenSet<&V::rates>("rates", "a list of maps",
                         "the rates of each map of `statistics.clients`, in the same order"),
  };
  return kKeys;
}

KeysOf<JoinView> JoinView::Keys() {
  using V = JoinView;
  static constexpr Key<V> kKeys[] = {
      Always<&V::node>("node", "text", "the node"),
      Always<&V::hub>("hub", "an address", "the address of the hub"),
      Always<&V::interface>("interface", "text",
                            "the interface of the node, in the node's namespace"),
      Always<&V::state>("state", "running or dead",
                        "dead: the process was killed and did not clean up"),
      Always<&V::pid>("pid", "a process",
                      "the process ID of the privileged process of `viaduct join`"),
      Always<&V::uid>("uid", "a user", "the user ID of the owner"),
      Always<&V::created>("created", "UTC, ISO 8601", "the time at which the node was joined"),
  };
  return kKeys;
}

KeysOf<Snapshot> Snapshot::Keys() {
  using S = Snapshot;
  static constexpr Key<S> kKeys[] = {
      Always<&S::time>("time", "UTC, ISO 8601", "the time at which the statistics were read"),
      Always<&S::labs>("labs", "a list of maps", "one map for each lab"),
      Always<&S::paths>("paths", "a list of maps",
                        "one map for each path, including the paths of shells"),
      Always<&S::hubs>("hubs", "a list of maps", "one map for each hub of this user"),
      Always<&S::joined>("joined", "a list of maps", "one map for each joined node"),
  };
  return kKeys;
}

std::string DocumentSnapshot() {
  return result::Chapter<Snapshot>("viaduct top --json",
                                   "The labs, paths, hubs and joined nodes of this machine. Rates "
                                   "are averages over the interval that `--interval` sets.");
}

}  // namespace viaduct::watch
