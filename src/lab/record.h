// The record of a run: what it created in the kernel, written before it was created, so that
// another process can remove it when the run was killed. Runs are a registry
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
  std::optional<uint64_t> inode;  // absent: the run died between recording and creating it
  bool foreign = false;           // a container's: only the name is the lab's
};
// An interface of the lab in a foreign namespace.
struct RecordedGuest {
  std::string namespace_name, name, mac;
};
// What tells an interface of a Wi-Fi card from others, wherever it is (sys/card/wireless_cards.h).
struct RecordedCard {
  uint32_t number = 0;
  uint64_t interface_id = 0;
};
struct RecordedPhysical {
  std::string host_name;       // its name on the host
  std::string namespace_name;  // the namespace it was moved to
  std::string name;            // its name there
  bool was_up = false;
  int mtu = 0;
  std::string mac;
  std::vector<std::string> offloads;  // that were switched off (sys::ActiveOffloads())
  std::optional<RecordedCard> card;   // absent: it moves alone

  // As a line of a record. `Read` throws json::exception.
  nlohmann::json Line() const;
  static RecordedPhysical Read(const nlohmann::json& line);
};

// What became of the simulator of a lab that stays up (`viaduct up`).
struct SimulatorHistory {
  int restarts = 0;       // how many have died and were replaced
  bool absent = false;    // nobody computes routes now
  bool given_up = false;  // nor will anybody
  // Of the last that died; empty: none did.
  std::string last_death;  // UTC, ISO 8601
  std::optional<double> without_seconds;
  std::string cause;

  static fields::KeysOf<SimulatorHistory> Keys();
  friend bool operator==(const SimulatorHistory&, const SimulatorHistory&) = default;
};

// What became of the process that forwards for nodes whose data plane is `userspace` or `program`.
struct ForwarderHistory {
  int restarts = 0;     // how many have died and were replaced
  bool absent = false;  // nothing forwards for these nodes now
  std::string cause;    // why the last one died; empty: none did

  static fields::KeysOf<ForwarderHistory> Keys();
  friend bool operator==(const ForwarderHistory&, const ForwarderHistory&) = default;
};

// A run as its record says; its maker is the broker, its name the lab's.
struct RunInfo : sys::RegistryEntry {
  // The path engine of the lab's emulated links; 0: it has none.
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

// In a run's folder, next to the sockets: why a process of it that nobody waits for has ended.
// Written by the path engine, for who notices that it is gone.
inline constexpr char kLastWordsFile[] = "last-words";

// In a run's folder: the names of its nodes (lab/names.h).
inline constexpr char kHostsFile[] = "hosts";
// In a run's folder, for whose it is: its nodes with their interfaces and its links, as JSON
// (lab/topology.h).
inline constexpr char kTopologyFile[] = "topology.json";

sys::Registry Runs(const std::string& root = sys::kRunFolder);
// All runs with a record, live, dead and damaged.
std::vector<RunInfo> ListRuns(const std::string& root = sys::kRunFolder);

// Reserves the lab's name for this process. Throws UsageError when it is taken, saying by whom and
// what its owner can do.
// `hosts`: the text of kHostsFile.
sys::OwnEntry TakeLab(const std::string& root, const std::string& lab, uint32_t owner_uid,
                      const std::string& hosts = "");

// Opens a recorded namespace itself; empty if it has gone, or the name is another one's by now.
UniqueFd OpenRecorded(const RecordedNamespace& entry);

// Removes what a record lists: processes in its own namespaces, its interfaces in foreign ones,
// physical interfaces (back to this namespace), namespaces; then the record. It is no error if
// something is gone already; what cannot be removed is returned, one line each, and the record is
// then kept. Namespaces whose inode is not the recorded one belong to another owner and are left
// alone.
std::vector<std::string> RemoveRun(const RunInfo& run,
                                   sys::WirelessCards& cards = sys::KernelCards());

// Removes every dead run and returns the removed ones. Problems are appended to `problems`.
std::vector<RunInfo> RemoveDeadRuns(std::vector<std::string>* problems,
                                    const std::string& root = sys::kRunFolder,
                                    sys::WirelessCards& cards = sys::KernelCards());

}  // namespace viaduct::lab
