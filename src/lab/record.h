// The record of a run: what it created in the kernel, written before it was created, so that
// another process can remove it when the run was killed.
//
// A run's directory is ROOT/LAB (ROOT: /run/viaduct). Its file `record.jsonl` holds one JSON object
// per line; the first identifies its owner. Creating the directory reserves the lab's name.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"

namespace viaduct::lab {

inline constexpr char kRecordRoot[] = "/run/viaduct";

// The run that a record belongs to.
struct RunInfo {
  std::string lab;
  std::string directory;
  int owner_uid = 0;
  int broker_pid = 0;
  uint64_t broker_start_time = 0;  // sys::ProcessStartTime
  std::string created;             // UTC, ISO 8601
  bool alive = false;              // whether the broker still runs
  // The path engine of the lab's emulated links; 0: it has none.
  int engine_pid = 0;
  uint64_t engine_start_time = 0;
  bool engine_alive = false;
};

// Objects that a run created, in the order of creation.
struct RecordedNamespace {
  std::string name;
  std::optional<uint64_t> inode;  // absent: the run died between recording and creating it
};
struct RecordedPhysical {
  std::string host_name;       // its name on the host
  std::string namespace_name;  // the namespace it was moved to
  std::string name;            // its name there
  bool was_up = false;
  int mtu = 0;
  std::string mac;
};
struct Record {
  RunInfo run;
  std::vector<RecordedNamespace> namespaces;
  std::vector<RecordedPhysical> physicals;
};

// Parses a record's text; an unfinished last line (of a killed writer) is ignored. Throws
// UsageError if anything else is malformed.
Record ParseRecord(std::string_view text);

// The writing side; every line is in the file before the call returns. Owned by the Lab.
class RecordWriter {
 public:
  // Reserves the lab's name by creating ROOT/LAB. Throws UsageError when it is taken, saying by
  // whom and what to do.
  RecordWriter(const std::string& root, const std::string& lab, int owner_uid);
  void Write(const nlohmann::json& line);
  const std::string& directory() const { return directory_; }
  // Removes the directory: the lab's name is free again.
  void Erase();

 private:
  std::string directory_;
  UniqueFd file_;
};

// All runs with a record, live and dead; damaged records are listed with broker_pid 0.
std::vector<RunInfo> ListRuns(const std::string& root = kRecordRoot);
Record ReadRecord(const std::string& directory);

// Removes what a record lists: processes in its namespaces, physical interfaces (back to this
// namespace), namespaces; then the record. It is no error if something is gone already; what cannot
// be removed is returned, one line each, and the record is then kept. Namespaces whose inode is not
// the recorded one belong to another owner and are left alone.
std::vector<std::string> RemoveRun(const Record& record);

// Removes every dead run and returns the removed ones. Problems are appended to `problems`.
std::vector<RunInfo> RemoveDeadRuns(const std::string& root, std::vector<std::string>* problems);

}  // namespace viaduct::lab
