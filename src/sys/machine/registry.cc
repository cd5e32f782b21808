#include "sys/machine/registry.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/file.h"
#include "base/shortage.h"
#include "base/text/json_text.h"
#include "base/utc_time.h"

namespace viaduct::sys {
namespace {

using nlohmann::json;

constexpr int kVersion = 2;
constexpr mode_t kRecordMode = 0644;

// Returns the temporary name of an entry's folder while the entry is being made or removed. The
// name identifies the process that makes or removes the entry.
std::string UnbornName(const std::string& name) {
  const ProcessIdentity own = OwnIdentity();
  return fmt::format(".new-{}-{}-{}-{}", own.pid, own.start_time, own.pid_namespace, name);
}

bool IsAbandoned(const std::string& unborn) {
  int pid = 0;
  unsigned long long start_time = 0, pid_namespace = 0;
  return sscanf(unborn.c_str(), ".new-%d-%llu-%llu-", &pid, &start_time, &pid_namespace) == 3 &&
         LifeOf({pid, start_time, pid_namespace}) == Life::kDead;
}

bool SameMaker(const RegistryEntry& a, const RegistryEntry& b) { return a.maker() == b.maker(); }

// Parses the lines of a record. Leaves out an unfinished last line: the process that wrote it was
// killed.
RecordLines ParseLines(const std::string& text) {
  RecordLines lines;
  for (size_t start = 0, end; (end = text.find('\n', start)) != std::string::npos;
       start = end + 1) {
    lines.push_back(json::parse(text.begin() + static_cast<ptrdiff_t>(start),
                                text.begin() + static_cast<ptrdiff_t>(end)));
  }
  return lines;
}

RecordLines ReadLines(int folder, const std::string& name) {
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const UniqueFd file(SystemCall("open " + name, openat(folder, name.c_str(), kFlags)));
  if (!IsTrusted(folder) || !IsTrusted(file.get()))
    throw Error("other users can write to the record");
  return ParseLines(ReadToEnd(file.get(), name));
}

void ReadMaker(const RecordLines& lines, RegistryEntry* entry) {
  const json& first = lines.empty() ? throw Error("the record is empty") : lines.front();
  if (first.at("record") != kVersion) throw Error("the record is from another version of Viaduct");
  first.at("start_time").get_to(entry->start_time);
  // Assumes this process's pid namespace for older records, which do not name the pid namespace.
  entry->pid_namespace = first.value("pid_namespace", OwnIdentity().pid_namespace);
  first.at("uid").get_to(entry->uid);
  first.at("created").get_to(entry->created);
  first.at("pid").get_to(entry->pid);  // read last, so that a damaged record leaves it 0
  const Life life = LifeOf(entry->maker());
  entry->alive = life != Life::kDead;
  entry->unknown = life == Life::kUnknown;
}

// Rethrows the exception that is being handled if its cause is a shortage (of descriptors or
// memory), because a shortage says nothing about the entry.
void ThrowIfShortage(const std::exception& error) {
  const auto* call = dynamic_cast<const SystemError*>(&error);
  if (call != nullptr && IsShortage(call->error_number())) throw;
}

}  // namespace

void OwnEntry::Write(const json& line) {
  const off_t end =
      SystemCall("seek to the end of the record file of " + name, lseek(record.get(), 0, SEEK_END));
  try {
    WriteAll(record.get(), JsonText(line) + "\n", "the record file of " + name);
  } catch (const SystemError&) {
    // Removes the part of the line that a full disk may have accepted: it would spoil the next
    // line.
    (void)!ftruncate(record.get(), end);
    throw;
  }
}

RecordLines OwnEntry::Lines() const {
  const std::string what = "the record file of " + name;
  SystemCall("seek to the start of " + what, lseek(record.get(), 0, SEEK_SET));
  return ParseLines(ReadToEnd(record.get(), what));
}

NameTaken::NameTaken(RegistryEntry entry)
    : UsageError(entry.folder.string() + ": the name is already in use"),
      holder(std::move(entry)) {}

std::string FindWords::With(std::string words, const std::string& names) {
  return words.replace(words.rfind("{}"), 2, names);
}

Registry::Registry(TrustedPlace place, std::vector<std::string> files)
    : place_(std::move(place)), files_(std::move(files)) {}

RegistryEntry Registry::Unknown(const std::string& name) const {
  RegistryEntry entry;
  entry.name = name;
  entry.folder = place_.path() / name;
  return entry;
}

std::optional<Registry::Found> Registry::Read(int root, const std::string& name) const {
  Found found{Unknown(name), {}, OpenFolderAt(root, name)};
  if (!found.folder && IsShortage(errno)) {
    throw SystemError("open " + found.entry.folder.string(), errno);
  }
  if (!found.folder || !IsOwn(found.folder.get())) return std::nullopt;
  try {
    found.lines = ReadLines(found.folder.get(), files_.front());
    ReadMaker(found.lines, &found.entry);
  } catch (const std::exception& error) {
    ThrowIfShortage(error);
    // Marks the entry as damaged, unless another process is removing the entry at the same time.
    if (!IsStill(found.folder.get(), root, name)) return std::nullopt;
    found.entry.damage = error.what();
  }
  return found;
}

bool Registry::HasDead() const {
  const UniqueFd root = OpenTrusted(place_);
  const std::vector<std::string> names = NamesIn(root.get());
  // An empty folder is left by a process that was killed before it made its entry.
  if (root && names.empty()) return !place_.folders.back().stays;
  return std::ranges::any_of(names, [&](const std::string& name) {
    if (name.starts_with('.')) return IsAbandoned(name);
    const auto found = Read(root.get(), name);
    return found && (!found->entry.alive || found->entry.unknown);
  });
}

OwnEntry Registry::Fill(int folder, const NewEntry& wanted) const {
  OwnEntry own;
  const ProcessIdentity maker = OwnIdentity();
  static_cast<RegistryEntry&>(own) = {wanted.name,
                                      place_.path() / wanted.name,
                                      maker.pid,
                                      maker.start_time,
                                      maker.pid_namespace,
                                      wanted.uid,
                                      UtcNow(),
                                      true,
                                      false,
                                      {}};
  const std::string& file = files_.front();
  constexpr int kFlags = O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
  own.record.reset(SystemCall("create " + file, openat(folder, file.c_str(), kFlags, kRecordMode)));
  // Sets the mode of the record explicitly, independently of the umask.
  SystemCall("chmod " + file, fchmod(own.record.get(), kRecordMode));
  json line = wanted.first_line;
  line.update({{"record", kVersion},
               {"name", own.name},
               {"pid", own.pid},
               {"start_time", own.start_time},
               {"pid_namespace", own.pid_namespace},
               {"uid", own.uid},
               {"created", own.created}});
  own.Write(line);
  wanted.complete(folder);
  return own;
}

OwnEntry Registry::Take(const NewEntry& wanted) const {
  const std::string unborn = UnbornName(wanted.name);
  for (;;) {
    const UniqueFd root = MakeTrusted(place_);
    const UniqueFd folder = MakeFolderAt(root.get(), {unborn, place_.folders.back().mode});
    if (!folder && errno == ENOENT) continue;  // the removal of the last entry has removed the root
    const int error = errno;
    try {
      if (!folder) throw SystemError("create " + (place_.path() / unborn).string(), error);
      OwnEntry own = Fill(folder.get(), wanted);
      if (renameat(root.get(), unborn.c_str(), root.get(), wanted.name.c_str()) == 0) return own;
      if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) {
        throw SystemError("create " + own.folder.string(), errno);
      }
      RemoveFolder(root.get(), unborn);
      if (const auto found = Read(root.get(), wanted.name)) {
        const RegistryEntry& holder = found->entry;
        const bool dead = holder.pid != 0 && !holder.alive;
        if (wanted.from_dead && dead && Remove(holder).empty()) continue;
        throw NameTaken(holder);
      }
      if (faccessat(root.get(), wanted.name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        throw NameTaken(Unknown(wanted.name));
      }
    } catch (...) {
      RemoveFolder(root.get(), unborn);
      RemoveIfEmpty(place_);
      throw;
    }
  }
}

UniqueFd Registry::Open(const RegistryEntry& entry) const {
  const UniqueFd root = OpenTrusted(place_);
  auto found = Read(root.get(), entry.name);
  return found && SameMaker(found->entry, entry) ? std::move(found->folder) : UniqueFd();
}

// Removes an entry's folder and all files that an entry can have. Returns the errno if the folder
// still exists; 0 if it is gone, or belongs to another user.
int Registry::RemoveFolder(int root, const std::string& name) const {
  const UniqueFd folder = OpenFolderAt(root, name);
  if (!folder && IsShortage(errno)) return errno;
  if (!folder || !IsOwn(folder.get())) return 0;
  for (const std::string& file : files_) unlinkat(folder.get(), file.c_str(), 0);
  return unlinkat(root, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : errno;
}

void Registry::RemoveOrThrow(const RegistryEntry& entry) const {
  const std::string unborn = UnbornName(entry.name), what = "remove " + entry.folder.string();
  const UniqueFd root = OpenTrusted(place_);
  if (!root) return;
  const auto found = Read(root.get(), entry.name);
  // Returns if another process has removed the entry, even if another entry has taken its name.
  if (!found || !SameMaker(found->entry, entry)) return;
  // Renames the entry's folder first, so that the entry is not listed as damaged while it is being
  // removed.
  if (renameat(root.get(), entry.name.c_str(), root.get(), unborn.c_str()) != 0) {
    if (errno == ENOENT) return;
    throw SystemError(what, errno);
  }
  // If the renamed folder belongs to another entry, which has just been made under this name,
  // restores the folder's name.
  if (!IsStill(found->folder.get(), root.get(), unborn)) {
    renameat2(root.get(), unborn.c_str(), root.get(), entry.name.c_str(), RENAME_NOREPLACE);
    return;
  }
  const int error = RemoveFolder(root.get(), unborn);
  if (error != 0) throw SystemError(what, error);
  RemoveIfEmpty(place_);
}

std::vector<std::string> Registry::Remove(const RegistryEntry& entry) const {
  try {
    RemoveOrThrow(entry);
    return {};
  } catch (const Error& error) {
    return {error.what()};
  }
}

void Registry::RemoveUnborn(std::vector<std::string>* problems) const {
  const UniqueFd root = OpenTrusted(place_);
  for (const std::string& name : NamesIn(root.get())) {
    const int error = IsAbandoned(name) ? RemoveFolder(root.get(), name) : 0;
    if (error != 0) {
      problems->push_back(SystemError("remove " + (place_.path() / name).string(), error).what());
    }
  }
  RemoveIfEmpty(place_);
}

}  // namespace viaduct::sys
