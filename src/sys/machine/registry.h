// The labs, paths and paused simulations that run on this machine, and the remains of those whose
// process has ended.
//
// A registry is a folder that only root or this user may write to. An entry is a folder in it that
// has the entry's name. The entry's record is a file of JSON lines in that folder; the first line
// names the entry's maker, which is the process that made the entry. An entry is complete before
// its folder gets the entry's name: if several processes make an entry of one name, one succeeds,
// and no process sees an entry without its maker (sys/process/process_identity.h). A folder of a
// user other than root and this user is no entry: it is neither listed nor removed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "sys/process/process_identity.h"
#include "sys/trusted_folder.h"

namespace viaduct::sys {

using RecordLines = std::vector<nlohmann::json>;

// The content of every record. The class of a kind of entries derives from it and has a member
// Read(const RecordLines&), which reads the lines and members of the kind; json::exception means
// that the record is malformed.
struct RegistryEntry {
  std::string name;
  // The entry's folder, for messages; when it is opened, it may belong to another entry of the same
  // name.
  std::filesystem::path folder;
  int pid = 0;  // pid of the maker; 0: the record is damaged
  // The maker's start time and (in the next member) the maker's pid namespace, as in
  // sys::ProcessIdentity.
  uint64_t start_time = 0;
  uint64_t pid_namespace = 0;
  uint32_t uid = 0;      // the user for whom the entry was made
  std::string created;   // date and time in UTC, ISO 8601
  bool alive = false;    // false: the maker is known to have ended
  bool unknown = false;  // this process's pid namespace does not show the maker
  std::string damage;    // the reason why the record cannot be read; "": the record can be read

  std::string label() const { return name; }  // the entry's name in messages
  ProcessIdentity maker() const { return {pid, start_time, pid_namespace}; }
};

struct NewEntry {
  std::string name;
  uint32_t uid = 0;
  // Whether the new entry replaces an entry of the same name whose process has died, provided that
  // Remove() undoes all that the dead entry records.
  bool from_dead = false;
  // The members that the kind of entries adds to the record's first line.
  nlohmann::json first_line = nlohmann::json::object();
  // Creates the other files of the entry in its folder, before the folder gets the entry's name.
  std::function<void(int folder)> complete = [](int) {};
};

// An entry of this process, which exists until Registry::Remove().
struct OwnEntry : RegistryEntry {
  UniqueFd record;

  // Appends a line to the record; the line is in the file on return. Throws SystemError; the file
  // then contains no part of the line.
  void Write(const nlohmann::json& line);
  // Returns the entry as its record describes it, read from the open file even if the folder has
  // been removed or replaced. Throws SystemError, or Error if the record has been damaged.
  template <class Entry>
  Entry Read() const;

 private:
  RecordLines Lines() const;
};

// The exception for a name that another entry has. The maker of that entry is dead, alive, or
// unknown because the record is damaged.
struct NameTaken : UsageError {
  explicit NameTaken(RegistryEntry entry);
  RegistryEntry holder;
};

class Registry {
 public:
  // `files`: the names of all files that an entry's folder can contain, the record first.
  Registry(TrustedPlace place, std::vector<std::string> files);

  // Returns the entries, sorted by name. Throws EnvironmentError if the registry's folder must not
  // be trusted, SystemError if descriptors or memory are short: a shortage makes no entry missing
  // or damaged.
  template <class Entry>
  std::vector<Entry> List() const;

  // Whether RemoveDead() may have something to remove. True also if there is an entry whose maker
  // this process cannot see: root may be able to see it.
  bool HasDead() const;

  // Makes an entry of this process. Throws NameTaken, EnvironmentError, SystemError.
  OwnEntry Take(const NewEntry& wanted) const;

  // Opens the entry's folder; returns nothing if the folder is gone, or now belongs to another
  // entry.
  UniqueFd Open(const RegistryEntry& entry) const;

  // Removes an entry. Returns the problems, one line each. If the entry is already gone, or another
  // entry has its name now, this is not reported as a problem.
  std::vector<std::string> Remove(const RegistryEntry& entry) const;
  // Removes each entry whose maker is dead by calling `remove`, which must end with Remove(). Also
  // removes the folders of makers that ended before the folder got the entry's name. Damaged
  // entries are kept and reported as problems. Returns the removed entries.
  template <class Entry>
  std::vector<Entry> RemoveDead(
      std::vector<std::string>* problems,
      const std::function<std::vector<std::string>(const Entry&)>& remove) const;
  template <class Entry>
  std::vector<Entry> RemoveDead(std::vector<std::string>* problems) const {
    return RemoveDead<Entry>(problems, [this](const Entry& entry) { return Remove(entry); });
  }

 private:
  struct Found {
    RegistryEntry entry;
    RecordLines lines;
    UniqueFd folder;

    template <class Entry>
    Entry As() const;
  };
  std::optional<Found> Read(int root, const std::string& name) const;
  RegistryEntry Unknown(const std::string& name) const;
  OwnEntry Fill(int folder, const NewEntry& wanted) const;
  void RemoveOrThrow(const RegistryEntry& entry) const;
  int RemoveFolder(int root, const std::string& name) const;
  void RemoveUnborn(std::vector<std::string>* problems) const;

  TrustedPlace place_;
  std::vector<std::string> files_;
};

// The messages of FindLive() for the case that there is not exactly one matching entry. The last
// "{}" is replaced by the names of the entries.
struct FindWords {
  std::string none, no_match, several;
  static std::string With(std::string words, const std::string& names);
};

// Returns the only entry whose maker is alive and for which `wanted` returns true. Throws
// UsageError if there is not exactly one.
template <class Entry>
Entry FindLive(std::vector<Entry> all, const std::function<bool(const Entry&)>& wanted,
               const FindWords& words) {
  const auto labels = [&] {
    std::string text;
    for (const Entry& entry : all) text += (text.empty() ? "" : ", ") + entry.label();
    return text;
  };
  std::erase_if(all, [](const Entry& entry) { return !entry.alive; });
  if (all.empty()) throw UsageError(words.none);
  const std::string living = labels();
  std::erase_if(all, [&](const Entry& entry) { return !wanted(entry); });
  if (all.size() == 1) return std::move(all.front());
  throw UsageError(all.empty() ? FindWords::With(words.no_match, living)
                               : FindWords::With(words.several, labels()));
}

template <class Entry>
Entry OwnEntry::Read() const {
  Entry full;
  static_cast<RegistryEntry&>(full) = *this;
  try {
    full.Read(Lines());
    return full;
  } catch (const nlohmann::json::exception& error) {
    throw Error("the record of " + name + " is damaged: " + error.what());
  }
}

template <class Entry>
Entry Registry::Found::As() const {
  Entry full;
  static_cast<RegistryEntry&>(full) = entry;
  try {
    if (entry.pid != 0) full.Read(lines);
    return full;
  } catch (const nlohmann::json::exception& error) {
    Entry damaged;
    damaged.name = entry.name;
    damaged.folder = entry.folder;
    damaged.damage = error.what();
    return damaged;
  }
}

template <class Entry>
std::vector<Entry> Registry::List() const {
  std::vector<Entry> all;
  const UniqueFd root = OpenTrusted(place_);
  for (const std::string& name : NamesIn(root.get())) {
    if (name.starts_with('.')) continue;
    if (const auto found = Read(root.get(), name)) all.push_back(found->As<Entry>());
  }
  return all;
}

template <class Entry>
std::vector<Entry> Registry::RemoveDead(
    std::vector<std::string>* problems,
    const std::function<std::vector<std::string>(const Entry&)>& remove) const {
  std::vector<Entry> removed;
  for (Entry& entry : List<Entry>()) {
    if (entry.alive) continue;
    const auto failures = entry.pid != 0
                              ? remove(entry)
                              : std::vector{entry.folder.string() + " has no readable record (" +
                                            entry.damage + "); inspect and remove this directory"};
    problems->insert(problems->end(), failures.begin(), failures.end());
    if (failures.empty()) removed.push_back(std::move(entry));
  }
  RemoveUnborn(problems);
  return removed;
}

}  // namespace viaduct::sys
