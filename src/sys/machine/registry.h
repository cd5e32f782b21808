// What is alive on this machine, and what the dead have left: labs, paths, paused simulations.
//
// A registry is a folder that only root or this user may write to. An entry is a folder in it that
// has the entry's name; its record is a file of JSON lines, the first of which says who made it. An
// entry is complete before it has its name: of several makers of one name one wins, and nobody sees
// an entry without its maker (sys/process/process_identity.h). What belongs to anybody but root
// and this user is no entry: it is neither listed nor removed.
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

// What every record says. A kind of entries derives from it and has a member Read(const
// RecordLines&), which takes what else its records say; json::exception: that is malformed.
struct RegistryEntry {
  std::string name;
  std::filesystem::path folder;  // for people: it may be another's by the time it is opened
  int pid = 0;                   // the maker's; 0: the record is damaged
  uint64_t start_time = 0;       // the maker's, as the next: sys::ProcessIdentity
  uint64_t pid_namespace = 0;
  uint32_t uid = 0;      // on whose behalf it was made
  std::string created;   // UTC, ISO 8601
  bool alive = false;    // the maker still runs, or...
  bool unknown = false;  // ...that cannot be seen from this process's pid namespace
  std::string damage;    // why the record cannot be read; "": it can be

  std::string label() const { return name; }  // what users are told
  ProcessIdentity maker() const { return {pid, start_time, pid_namespace}; }
};

struct NewEntry {
  std::string name;
  uint32_t uid = 0;
  bool from_dead = false;  // takes the name over, where Remove() is all that the dead need
  // What the kind adds to the record's first line.
  nlohmann::json first_line = nlohmann::json::object();
  // Puts what else belongs into the entry's folder, before it has its name.
  std::function<void(int folder)> complete = [](int) {};
};

// An entry of this process, until Registry::Remove().
struct OwnEntry : RegistryEntry {
  UniqueFd record;

  // Appends a line, which is in the file on return. Throws SystemError: then nothing of it is.
  void Write(const nlohmann::json& line);
  // The entry as its record says, which is read where it is open: whatever has become of the
  // folder. Throws SystemError; Error if somebody has damaged it.
  template <class Entry>
  Entry Read() const;

 private:
  RecordLines Lines() const;
};

// The name is another's, who is dead, alive, or unknown because the record is damaged.
struct NameTaken : UsageError {
  explicit NameTaken(RegistryEntry entry);
  RegistryEntry holder;
};

class Registry {
 public:
  // `files`: all that an entry's folder ever holds, the record first.
  Registry(TrustedPlace place, std::vector<std::string> files);

  // By name. Throws EnvironmentError where the registry's folder is not to be trusted, SystemError
  // where descriptors or memory are short: no entry is missing or damaged because of that.
  template <class Entry>
  std::vector<Entry> List() const;

  // Whether RemoveDead() may have anything to do: more may be known to root.
  bool HasDead() const;

  // Throws NameTaken, EnvironmentError, SystemError.
  OwnEntry Take(const NewEntry& wanted) const;

  // The entry's folder; none where it has gone, or is another's by now.
  UniqueFd Open(const RegistryEntry& entry) const;

  // Returns what could not be removed, one line each. What has gone, or is another's by now, is no
  // problem.
  std::vector<std::string> Remove(const RegistryEntry& entry) const;
  // Has each entry whose maker is dead removed by `remove`, which ends with Remove(). Removes also
  // what makers left who died before they had the name. Damaged entries are kept and are problems.
  // Returns those that were removed.
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

// How FindLive() says that there is not one. The last "{}" stands for those there are.
struct FindWords {
  std::string none, no_match, several;
  static std::string With(std::string words, const std::string& names);
};

// The only living one that is `wanted`. Throws UsageError.
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
                                            entry.damage + "); inspect it and remove it"};
    problems->insert(problems->end(), failures.begin(), failures.end());
    if (failures.empty()) removed.push_back(std::move(entry));
  }
  RemoveUnborn(problems);
  return removed;
}

}  // namespace viaduct::sys
