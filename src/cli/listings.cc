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
      Always<&L::kind>("kind", "lab", "the kind of entry"),
      Always<&L::lab>("lab", "text", "the name of the lab"),
      Always<&L::state>(
          "state", "up, running or dead",
          "up: a lab of `viaduct up`; running: a lab of a run; dead: left by a killed "
          "run"),
      Always<&L::broker_pid>("broker_pid", "a process ID", "the process ID of the lab's broker"),
      Always<&L::engine_pid>(
          "engine_pid", "a process ID",
          "the process ID of the path engine of the lab's links; 0 if the lab has no path engine"),
      Always<&L::engine_alive>("engine_alive", "true or false",
                               "whether the path engine is running"),
      Always<&L::uid>("uid", "a user", "the user ID of the owner"),
      Always<&L::created>("created", "UTC, ISO 8601", "the time at which the lab was created"),
      Always<&L::simulator>("simulator", "a map", "the simulator of a lab that is up"),
      Always<&L::forwarder>("forwarder", "a map",
                            "the forwarder of nodes with data plane userspace or program"),
  };
  return kKeys;
}

KeysOf<ListedHub> ListedHub::Keys() {
  using H = ListedHub;
  static constexpr Key<H> kKeys[] = {
      Always<&H::kind>("kind", "hub", "the kind of entry"),
      Always<&H::lab>("lab", "text", "always empty"),
      Always<&H::name>("name", "text",
                       "the name of the scenario; with the pid if another hub has this name"),
      Always<&H::state>("state", "running or dead", "dead: left by a killed process"),
      Always<&H::pid>("pid", "a process ID", "the process ID of `viaduct hub`"),
      Always<&H::port>("port", "a UDP port", "the port to which clients send"),
      Always<&H::nodes>("nodes", "a list of text", "the remote nodes of the hub"),
      Always<&H::uid>("uid", "a user", "the user ID of the owner"),
      Always<&H::created>("created", "UTC, ISO 8601", "the time at which the hub was started"),
  };
  return kKeys;
}

KeysOf<ListedJoin> ListedJoin::Keys() {
  using J = ListedJoin;
  static constexpr Key<J> kKeys[] = {
      Always<&J::kind>("kind", "joined node", "the kind of entry"),
      Always<&J::lab>("lab", "text", "always empty"),
      Always<&J::name>("name", "text", "the name of the joined node's record"),
      Always<&J::state>("state", "running or dead", "dead: left by a killed process"),
      Always<&J::pid>("pid", "a process ID",
                      "the process ID of the privileged process of `viaduct join`"),
      Always<&J::hub>("hub", "an address", "the address of the hub"),
      Always<&J::node>("node", "text", "the node"),
      Always<&J::interface>("interface", "text",
                            "the interface of the node, in the node's namespace"),
      Always<&J::uid>("uid", "a user", "the user ID of the owner"),
      Always<&J::created>("created", "UTC, ISO 8601", "the time at which the node was joined"),
  };
  return kKeys;
}

KeysOf<ListedNetwork> ListedNetwork::Keys() {
  using N = ListedNetwork;
  static constexpr Key<N> kKeys[] = {
      Always<&N::name>("name", "text",
                       "the name of the network; empty for a network of a C++ program"),
      Always<&N::nodes>("nodes", "a list of nodes", "the nodes on the network"),
      Always<&N::interfaces>("interfaces", "a list of text",
                             "the interface of each node, in the same order"),
  };
  return kKeys;
}

KeysOf<ListedPause> ListedPause::Keys() {
  using P = ListedPause;
  static constexpr Key<P> kKeys[] = {
      Always<&P::kind>("kind", "paused simulation", "the kind of entry"),
      Always<&P::lab>("lab", "text", "always empty"),
      Always<&P::name>("name", "text", "the name of the scenario or of the program"),
      Always<&P::state>("state", "paused or dead", "dead: left by a killed process"),
      Always<&P::pid>("pid", "a process ID", "the process ID of the simulator"),
      Always<&P::time>("time", "s", "the virtual time at which the simulation was paused"),
      Always<&P::nodes>("nodes", "a list of nodes",
                        "all nodes; for a C++ program only the nodes that have a kernel"),
      Always<&P::kernels>("kernels", "a list of nodes", "the nodes that have a kernel"),
      Always<&P::links>("links", "a list of maps", "the networks of the simulation"),
      Always<&P::uid>("uid", "a user", "the user ID of the owner"),
      Always<&P::created>("created", "UTC, ISO 8601",
                          "the time at which the simulation was paused"),
  };
  return kKeys;
}

KeysOf<ListedPath> ListedPath::Keys() {
  using P = ListedPath;
  static constexpr Key<P> kKeys[] = {
      Always<&P::name>("name", "text", "the name of the path, as for `path set` and `path stats`"),
      Always<&P::state>("state", "running or dead", "dead: left by a killed process"),
      Always<&P::pid>("pid", "a process ID",
                      "the process ID of the process that emulates the path"),
      Always<&P::uid>("uid", "a user", "the user ID of the user who started the path"),
      Always<&P::interfaces>("interfaces", "a list of text",
                             "the interfaces that the path connects"),
      Always<&P::pairs>("pairs", "a list of text", "the names of the path's pairs"),
      Always<&P::control>("control", "text", "the control socket of the path"),
      Always<&P::created>("created", "UTC, ISO 8601", "the time at which the path was started"),
  };
  return kKeys;
}

KeysOf<Cleaning> Cleaning::Keys() {
  static constexpr Key<Cleaning> kKeys[] = {
      Always<&Cleaning::removed>(
          "removed", "a list of text",
          "the names of the removed entries: labs, paths and paused simulations"),
      Always<&Cleaning::left>(
          "left", "a list of text",
          "entries that were not removed because they may still be in use: they "
          "were created in other pid namespaces"),
      Always<&Cleaning::problems>("problems", "a list of text",
                                  "errors: entries that could not be removed"),
  };
  return kKeys;
}

KeysOf<Finding> Finding::Keys() {
  static constexpr Key<Finding> kKeys[] = {
      Always<&Finding::name>("name", "text", "the name of the feature"),
      Always<&Finding::state>("state", "yes, no or unknown",
                              "whether the feature is available on this machine"),
      Always<&Finding::purpose>("purpose", "text", "the purpose of the feature"),
      Always<&Finding::remedy>("remedy", "text",
                               "how to get the feature; empty if the feature is available"),
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
      Always<&BuiltKernel::reused>("reused", "true or false",
                                   "whether the kernel had already been built"),
      Always<&BuiltKernel::seconds>("seconds", "s", "the duration of the build"),
  };
  return kKeys;
}

std::string DocumentListings() {
  using result::Chapter;
  return Chapter<ListedLab>(
             "viaduct ls --json",
             "A list: one map with these keys for each lab, then one map for each hub of this "
             "user, one for each joined node, and one for each paused simulation of this user, "
             "with the keys of the next three tables.") +
         Chapter<ListedHub>("viaduct ls --json: hubs", "") +
         Chapter<ListedJoin>("viaduct ls --json: joined nodes", "") +
         Chapter<ListedPause>("viaduct ls --json: paused simulations", "") +
         watch::DocumentInspection() + result::DocumentPaused() + watch::DocumentSnapshot() +
         Chapter<ListedPath>("viaduct path ls --json", "A list with one map for each path.") +
         Chapter<Cleaning>("viaduct clean --json",
                           "The results of the removal of what killed runs had left behind.") +
         Chapter<Finding>("viaduct doctor --json",
                          "A list with one map for each ability (such as `lab`: viaduct up and "
                          "run) and each feature.") +
         Chapter<ListedKernel>("viaduct kernel list --json",
                               "A list with one map for each kernel, newest first.") +
         Chapter<BuiltKernel>("viaduct kernel build --json", "The kernel that was built.");
}

}  // namespace viaduct::cli
