// The keys of the output of `viaduct top --json`.
#include "base/result/document.h"
#include "run/watch/snapshot.h"

namespace viaduct::watch {

using fields::Always, fields::Key, fields::KeysOf, fields::WhenSet;

KeysOf<Rates> Rates::Keys() {
  using R = Rates;
  static constexpr Key<R> kKeys[] = {
      Always<&R::in_packets>("in_packets", "packets/s", "that entered the link; from the client"),
      Always<&R::in_bits>("in_bits", "bit/s", "and their bits"),
      Always<&R::out_packets>("out_packets", "packets/s", "that left the link; to the client"),
      Always<&R::out_bits>("out_bits", "bit/s", "and their bits"),
      Always<&R::lost_packets>("lost_packets", "packets/s", "lost, for whatever cause"),
      WhenSet<&R::delay_ms>("delay_ms", "ms",
                            "how long frames from the client waited for the simulation, the mean"),
  };
  return kKeys;
}

namespace {

constexpr char kTroubleHelp[] = "why it has no statistics; absent: it has, or needs none";

}  // namespace

KeysOf<LabView> LabView::Keys() {
  using V = LabView;
  static constexpr Key<V> kKeys[] = {
      Always<&V::name>("name", "text", "its name"),
      Always<&V::state>("state", "up, running or dead", "as in `viaduct ls`"),
      Always<&V::nodes>("nodes", "a list of text", "its nodes"),
      Always<&V::pid>("pid", "a process", "its broker"),
      Always<&V::uid>("uid", "a user", "whose it is"),
      Always<&V::created>("created", "UTC, ISO 8601", "when it was made"),
      WhenSet<&V::trouble>("trouble", "text", kTroubleHelp),
      Always<&V::simulator>("simulator", "a map", "the simulator of a lab that is up"),
      WhenSet<&V::statistics>("statistics", "a map",
                              "of its path engine; absent: it has none, or see `trouble`"),
      WhenSet<&V::rates>("rates", "a list of maps",
                         "of each of `statistics.pipelines`, in their order"),
  };
  return kKeys;
}

KeysOf<PathView> PathView::Keys() {
  using V = PathView;
  static constexpr Key<V> kKeys[] = {
      Always<&V::name>("name", "text", "its name; a shell's is `vsh` and a number"),
      Always<&V::state>("state", "running or dead", "dead: left by a killed process"),
      Always<&V::pid>("pid", "a process", "its keeper"),
      Always<&V::uid>("uid", "a user", "whose it is"),
      Always<&V::created>("created", "UTC, ISO 8601", "when it was started"),
      WhenSet<&V::trouble>("trouble", "text", kTroubleHelp),
      WhenSet<&V::statistics>("statistics", "a map", "as of `viaduct path stats --json`"),
      WhenSet<&V::rates>("rates", "a list of maps",
                         "of each of `statistics.pipelines`, in their order"),
  };
  return kKeys;
}

KeysOf<HubView> HubView::Keys() {
  using V = HubView;
  static constexpr Key<V> kKeys[] = {
      Always<&V::name>("name", "text", "the scenario's; with its pid where another hub has that"),
      Always<&V::state>("state", "running or dead", "dead: left by a killed process"),
      Always<&V::pid>("pid", "a process", "the command"),
      Always<&V::uid>("uid", "a user", "whose it is"),
      Always<&V::created>("created", "UTC, ISO 8601", "when it was started"),
      WhenSet<&V::trouble>("trouble", "text", kTroubleHelp),
      WhenSet<&V::statistics>("statistics", "a map", "as of `viaduct hub --json`, so far"),
      WhenSet<&V::rates>("rates", "a list of maps",
                         "of each of `statistics.clients`, in their order"),
  };
  return kKeys;
}

KeysOf<JoinView> JoinView::Keys() {
  using V = JoinView;
  static constexpr Key<V> kKeys[] = {
      Always<&V::node>("node", "text", "the node"),
      Always<&V::hub>("hub", "an address", "its hub's"),
      Always<&V::interface>("interface", "text", "its interface, in its namespace"),
      Always<&V::state>("state", "running or dead", "dead: left by a killed process"),
      Always<&V::pid>("pid", "a process", "root's half of `viaduct join`"),
      Always<&V::uid>("uid", "a user", "whose it is"),
      Always<&V::created>("created", "UTC, ISO 8601", "when it was joined"),
  };
  return kKeys;
}

KeysOf<Snapshot> Snapshot::Keys() {
  using S = Snapshot;
  static constexpr Key<S> kKeys[] = {
      Always<&S::time>("time", "UTC, ISO 8601", "of the statistics"),
      Always<&S::labs>("labs", "a list of maps", "each lab"),
      Always<&S::paths>("paths", "a list of maps", "each path, and each shell's"),
      Always<&S::hubs>("hubs", "a list of maps", "each hub of this user"),
      Always<&S::joined>("joined", "a list of maps", "each joined node"),
  };
  return kKeys;
}

std::string DocumentSnapshot() {
  return result::Chapter<Snapshot>(
      "viaduct top --json",
      "What is alive on this machine. Rates are those of the time `--interval`.");
}

}  // namespace viaduct::watch
