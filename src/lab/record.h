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

// Objects that a run created, in the order of creation.
struct RecordedNamespace {
  std::string name;
  std::optional<uint64_t> inode;  // absent: the run was killed between recording and creating it
  bool foreign = false;           // a container's: only the name belongs to the lab
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
  std::string namespace_name;  // that it was moved to
  std::string name;            // the interface's name in that namespace
  bool was_up = false;
  int mtu = 0;
  std::string mac;
  std::vector<std::string> offloads;  // that were switched off (sys::ActiveOffloads())
  std::optional<RecordedCard> card;   // absent: the interface moves alone

  // Converts to and from a line of a record. `Read` throws json::exception.
  nlohmann::json Line() const;
  static RecordedPhysical Read(const nlohmann::json& line);
};

// The history of the simulator of a lab that stays up (`viaduct up`).
struct SimulatorHistory {
  int restarts = 0;       // the number of simulators that failed and were replaced
  bool absent = false;    // no simulator computes routes now
  bool given_up = false;  // no further simulator will be started
  // Facts about the last failure; empty: no simulator failed.
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

// A run as recorded; its maker is the broker, its name the lab's.
struct RunInfo : sys::RegistryEntry {
  // The path engine of the lab's emulated links; 0: the lab has none.
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

// The file, in a run's folder next to the sockets, with the reason why a process of the run that
// no process waits for has ended. The path engine writes it; the process that notices its end reads
// it.
inline constexpr char kLastWordsFile[] = "last-words";

// The file, in a run's folder, with the names of its nodes (lab/names.h).
inline constexpr char kHostsFile[] = "hosts";
// The file, in a run's folder and readable for the run's user, with its nodes, their interfaces and
// its links, as JSON (lab/topology.h).
inline constexpr char kTopologyFile[] = "topology.json";

sys::Registry Runs(const std::string& root = sys::kRunFolder);
// All runs with a record, live, dead and damaged.
std::vector<RunInfo> ListRuns(const std::string& root = sys::kRunFolder);

// Reserves the lab's name for this process. Throws UsageError when it is taken; the message names
// the owner and what they can do. `hosts`: the text of kHostsFile.
sys::OwnEntry TakeLab(const std::string& root, const std::string& lab, uint32_t owner_uid,
                      const std::string& hosts = "");

// Opens a recorded namespace itself; empty if it is gone, or another namespace has the name now.
UniqueFd OpenRecorded(const RecordedNamespace& entry);

// Removes what a record lists: processes in the run's own namespaces, its interfaces in foreign
// ones, physical interfaces (back to this namespace), namespaces; then the record. Objects that are
// gone already are no error. Returns what could not be removed, one line each, and then keeps the
// record. Namespaces whose inode is not the recorded one belong to another owner and are left
// alone.
std::vector<std::string> RemoveRun(const RunInfo& run,
                                   sys::WirelessCards& cards = sys::KernelCards());

// Removes every dead run and returns the removed ones. Problems are appended to `problems`.
std::vector<RunInfo> RemoveDeadRuns(std::vector<std::string>* problems,
                                    const std::string& root = sys::kRunFolder,
                                    sys::WirelessCards& cards = sys::KernelCards());

}  // namespace viaduct::lab
