#include "cli/listings.h"

#include "base/result/document.h"
#include "base/result/paused.h"
#include "run/watch/inspection.h"
#include "run/watch/snapshot.h"

namespace viaduct::cli {

using fields::Always;
using fields::Among;
using fields::Key;
using fields::KeysOf;

KeysOf<ListedLab> ListedLab::Keys() {
  using L = ListedLab;
  static constexpr Key<L> kKeys[] = {
      Always<&L::kind>("kind", "lab", "what it is"),
      Always<&L::lab>("lab", "text", "its name"),
      Always<&L::state>("state", "up, running or dead",
                        "up: of `viaduct up`; running: of a run; dead: left by a killed run"),
      Always<&L::broker_pid>("broker_pid", "a process", "the lab's broker"),
      Always<&L::engine_pid>("engine_pid", "a process",
                             "the path engine of its links; 0: it has none"),
      Always<&L::engine_alive>("engine_alive", "true or false", "whether the path engine runs"),
      Always<&L::uid>("uid", "a user", "whose it is"),
      Always<&L::created>("created", "UTC, ISO 8601", "when it was made"),
      Always<&L::simulator>("simulator", "a map", "the simulator of a lab that is up"),
      Always<&L::forwarder>("forwarder", "a map",
                            "what forwards for nodes with data plane userspace or program"),
  };
  return kKeys;
}

KeysOf<ListedHub> ListedHub::Keys() {
  using H = ListedHub;
  static constexpr Key<H> kKeys[] = {
      Always<&H::kind>("kind", "hub", "what it is"),
      Always<&H::lab>("lab", "text", "empty"),
      Always<&H::name>("name", "text", "the scenario's; with its pid where another hub has that"),
      Always<&H::state>("state", "running or dead", "dead: left by a killed process"),
      Always<&H::pid>("pid", "a process", "the command"),
      Always<&H::port>("port", "a UDP port", "where clients send to"),
      Always<&H::nodes>("nodes", "a list of text", "its remote nodes"),
      Always<&H::uid>("uid", "a user", "whose it is"),
      Always<&H::created>("created", "UTC, ISO 8601", "when it was started"),
  };
  return kKeys;
}

KeysOf<ListedJoin> ListedJoin::Keys() {
  using J = ListedJoin;
  static constexpr Key<J> kKeys[] = {
      Always<&J::kind>("kind", "joined node", "what it is"),
      Always<&J::lab>("lab", "text", "empty"),
      Always<&J::name>("name", "text", "of its record"),
      Always<&J::state>("state", "running or dead", "dead: left by a killed process"),
      Always<&J::pid>("pid", "a process", "root's half of the command"),
      Always<&J::hub>("hub", "an address", "its hub's"),
      Always<&J::node>("node", "text", "the node"),
      Always<&J::interface>("interface", "text", "its interface, in its namespace"),
      Always<&J::uid>("uid", "a user", "whose it is"),
      Always<&J::created>("created", "UTC, ISO 8601", "when it was joined"),
  };
  return kKeys;
}

KeysOf<ListedNetwork> ListedNetwork::Keys() {
  using N = ListedNetwork;
  static constexpr Key<N> kKeys[] = {
      Always<&N::name>("name", "text", "its name; empty: that of a C++ program has none"),
      Always<&N::nodes>("nodes", "a list of nodes", "those on it"),
      Always<&N::interfaces>("interfaces", "a list of text", "of each, in the node"),
  };
  return kKeys;
}

KeysOf<ListedPause> ListedPause::Keys() {
  using P = ListedPause;
  static constexpr Key<P> kKeys[] = {
      Always<&P::kind>("kind", "paused simulation", "what it is"),
      Always<&P::lab>("lab", "text", "empty"),
      Always<&P::name>("name", "text", "the scenario's, or the program's"),
      Always<&P::state>("state", "paused or dead", "dead: left by a killed process"),
      Always<&P::pid>("pid", "a process", "the simulator"),
      Always<&P::time>("time", "s", "the virtual instant at which it was paused"),
      Always<&P::nodes>("nodes", "a list of nodes",
                        "all; of a C++ program: those that have a kernel"),
      Always<&P::kernels>("kernels", "a list of nodes", "that have a kernel"),
      Always<&P::links>("links", "a list of maps", "its networks"),
      Always<&P::uid>("uid", "a user", "whose it is"),
      Always<&P::created>("created", "UTC, ISO 8601", "when it was paused"),
  };
  return kKeys;
}

KeysOf<ListedPath> ListedPath::Keys() {
  using P = ListedPath;
  static constexpr Key<P> kKeys[] = {
      Always<&P::name>("name", "text", "as `path set` and `path stats` take it"),
      Always<&P::state>("state", "running or dead", "dead: left by a killed process"),
      Always<&P::pid>("pid", "a process", "who emulates it"),
      Always<&P::uid>("uid", "a user", "who started it"),
      Always<&P::interfaces>("interfaces", "a list of text", "the interfaces that it joins"),
      Always<&P::pairs>("pairs", "a list of text", "the names of its pairs"),
      Always<&P::control>("control", "text", "its control socket"),
      Always<&P::created>("created", "UTC, ISO 8601", "when it was started"),
  };
  return kKeys;
}

KeysOf<Cleaning> Cleaning::Keys() {
  static constexpr Key<Cleaning> kKeys[] = {
      Always<&Cleaning::removed>("removed", "a list of text", "labs, paths and paused simulations"),
      Always<&Cleaning::left>("left", "a list of text",
                              "perhaps alive: their makers are in other pid namespaces"),
      Always<&Cleaning::problems>("problems", "a list of text", "what could not be removed"),
  };
  return kKeys;
}

KeysOf<Finding> Finding::Keys() {
  static constexpr Key<Finding> kKeys[] = {
      Always<&Finding::name>("name", "text", "what was looked for"),
      Always<&Finding::state>("state", "yes, no or unknown", "whether it is here"),
      Always<&Finding::purpose>("purpose", "text", "what it is used for"),
      Always<&Finding::remedy>("remedy", "text", "how to get it; empty where it is here"),
      Always<&Finding::detail>("detail", "text", "the error, if there was one"),
  };
  return kKeys;
}

KeysOf<ListedKernel> ListedKernel::Keys() {
  static constexpr Key<ListedKernel> kKeys[] = {
      Among<&ListedKernel::image>(),
      Always<&ListedKernel::file>("file", "text", "the executable"),
  };
  return kKeys;
}

KeysOf<BuiltKernel> BuiltKernel::Keys() {
  static constexpr Key<BuiltKernel> kKeys[] = {
      Among<&BuiltKernel::kernel>(),
      Always<&BuiltKernel::reused>("reused", "true or false", "whether it was in the store"),
      Always<&BuiltKernel::seconds>("seconds", "s", "that the build took"),
  };
  return kKeys;
}

std::string DocumentListings() {
  using result::Chapter;
  return Chapter<ListedLab>(
             "viaduct ls --json",
             "A list of one of these for each lab, then one of the next for each hub "
             "of this user, then one of those after it for each joined node, then one of the last "
             "of them for each of this user's paused simulations.") +
         Chapter<ListedHub>("viaduct ls --json: hubs", "") +
         Chapter<ListedJoin>("viaduct ls --json: joined nodes", "") +
         Chapter<ListedPause>("viaduct ls --json: paused simulations", "") +
         watch::DocumentInspection() + result::DocumentPaused() + watch::DocumentSnapshot() +
         Chapter<ListedPath>("viaduct path ls --json", "A list of one of these for each path.") +
         Chapter<Cleaning>("viaduct clean --json", "What dead runs had left.") +
         Chapter<Finding>("viaduct doctor --json", "A list of one of these for each finding.") +
         Chapter<ListedKernel>("viaduct kernel list --json",
                               "A list of one of these for each kernel, newest first.") +
         Chapter<BuiltKernel>("viaduct kernel build --json", "The kernel that was built.");
}

}  // namespace viaduct::cli
