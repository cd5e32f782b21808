// The record of a run: the objects that it creates in the kernel, written before they are created,
// so that another process can remove them after the run was killed. Runs are a registry
// (sys/machine/registry.h), whose entries have the labs' names.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/fields.h"
#include "sys/card/wireless_cards.h"
#include "sys/machine/registry.h"

namespace viaduct::lab {

// A namespace that a run created or named.
struct RecordedNamespace {
  std::string name;
  std::optional<uint64_t> inode;  // absent: the run was killed before the namespace was created
  bool foreign = false;  // the namespace is a container's; only its name belongs to the lab
};
// An interface of the lab in a foreign namespace.
struct RecordedGuest {
  std::string namespace_name, name, mac;
};
// The identity of a Wi-Fi card's interface, in any namespace (sys/card/wireless_cards.h).
struct RecordedCard {
  uint32_t number = 0;
  uint64_t interface_id = 0;
};
struct RecordedPhysical {
  std::string host_name;       // the interface's name on the host
  std::string namespace_name;  // the namespace that the interface was moved to
  std::string name;            // the interface's name in that namespace
  bool was_up = false;
  int mtu = 0;
  std::string mac;
  std::vector<std::string> offloads;  // the offloads that were disabled (sys::ActiveOffloads())
  std::optional<RecordedCard> card;   // absent: the interface is not moved together with a card

  // Convert a physical interface to and from a line of a record. Read() throws json::exception.
  nlohmann::json Line() const;
  static RecordedPhysical Read(const nlohmann::json& line);
};

// The history of the simulator of a lab that stays up (`viaduct up`).
struct SimulatorHistory {
  int restarts = 0;       // the number of simulators that failed and were replaced
  bool absent = false;    // no simulator computes routes now
  bool given_up = false;  // no further simulator will be started
  // The following members describe the last failure of a simulator; empty: no simulator failed.
  std::string last_death;  // UTC, ISO 8601
  std::optional<double> without_seconds;
  std::string cause;

  static fields::KeysOf<SimulatorHistory> Keys();
  friend bool operator==(const SimulatorHistory&, const SimulatorHistory&) = default;
};

// The history of the process that forwards for nodes with data plane `userspace` or `program`.
struct ForwarderHistory {
  int restarts = 0;     // the number of forwarders that failed and were replaced
  bool absent = false;  // no process forwards for these nodes now
  std::string cause;    // the reason of the last failure; empty: no forwarder failed

  static fields::KeysOf<ForwarderHistory> Keys();
  friend bool operator==(const ForwarderHistory&, const ForwarderHistory&) = default;
};

// A run, as its record describes it. The maker of the registry entry is the broker; the entry's
// name is the lab's name.
struct RunInfo : sys::RegistryEntry {
  // The pid and start time of the path engine of the lab's emulated links; 0: the lab has no
  // engine.
  int engine_pid = 0;
  uint64_t engine_start_time = 0;
  bool engine_alive = false;
  SimulatorHistory simulator;
  ForwarderHistory forwarder;
  std::vector<RecordedNamespace> namespaces;
  std::vector<RecordedPhysical> physicals;
  std::vector<RecordedGuest> guests;

  void Read(const sys::RecordLines& lines);
};

// The name of the file in a run's folder, next to the sockets, with the reason why the path engine
// has ended. No process waits for the engine, so the engine writes the reason, and the process that
// notices its end reads it.
inline constexpr char kLastWordsFile[] = "last-words";

// The name of the file in a run's folder with the names of the run's nodes (lab/names.h).
inline constexpr char kHostsFile[] = "hosts";
// The name of the file in a run's folder, readable for the run's user, with the run's nodes, their
// interfaces and its links, as JSON (lab/topology.h).
inline constexpr char kTopologyFile[] = "topology.json";

sys::Registry Runs(const std::string& root = sys::kRunFolder);
// Returns all runs with a record: live, dead and damaged ones.
std::vector<RunInfo> ListRuns(const std::string& root = sys::kRunFolder);

// Reserves the lab's name for this process. Throws UsageError if the name is taken; the message
// gives the owner and the remedy. `hosts`: the text of kHostsFile.
sys::OwnEntry TakeLab(const std::string& root, const std::string& lab, uint32_t owner_uid,
                      const std::string& hosts = "");

// Opens a recorded namespace. Returns an empty descriptor if the namespace is gone, or another
// namespace has the name now.
UniqueFd OpenRecorded(const RecordedNamespace& entry);

// Removes the objects of a record: processes in the run's own namespaces, the run's interfaces in
// foreign namespaces, physical interfaces (back to this namespace), namespaces; then the record
// itself. Missing objects are not an error. Returns one line for each object that could not be
// removed; if there is such a line, keeps the record. A namespace whose inode is not the recorded
// one belongs to another owner and is left alone.
std::vector<std::string> RemoveRun(const RunInfo& run,
                                   sys::WirelessCards& cards = sys::KernelCards());

// Removes every dead run. Returns the removed runs, and appends problems to `problems`.
std::vector<RunInfo> RemoveDeadRuns(std::vector<std::string>* problems,
                                    const std::string& root = sys::kRunFolder,
                                    sys::WirelessCards& cards = sys::KernelCards());

}  // namespace viaduct::lab
