#include "port/xdp/interface_guardian.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "port/xdp/veth_peer.h"
#include "sys/descriptors.h"
#include "sys/machine/namespace_id.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/trusted_folder.h"

namespace viaduct::xdp {
namespace {

using sys::Offloads;

// Returns the name of an end of a link, by which records and their files identify it.
std::string NameOf(const NeededOff& end) {
  return fmt::format("{}.{}", sys::IdentifyNamespace(end.network.get()).cookie, end.ifindex);
}

std::string RecordName(const std::vector<NeededOff>& ends) {
  std::vector<std::string> names;
  std::ranges::transform(ends, std::back_inserter(names), NameOf);
  std::ranges::sort(names);
  return fmt::format("{}", fmt::join(names, "-"));
}

// Locks the folder of records: one process at a time reads records and acts on them.
UniqueFd LockFolder() {
  UniqueFd folder = sys::MakeTrusted(sys::RootsPlace("xdp"));
  int result = 0;
  do {
    result = flock(folder.get(), LOCK_EX);
  } while (result != 0 && errno == EINTR);
  SystemCall("lock /run/viaduct/.xdp", result);
  return folder;
}

// A record of the offloads that were on at the ends of a link. The record is a file, and each
// process that needs the offloads off holds a lock on the file.
class Record {
 public:
  // Opens or creates the record of the given ends, and locks the record. The caller must hold the
  // lock of the folder.
  static Record Join(int folder, const std::vector<NeededOff>& ends) {
    Record record;
    const std::string name = RecordName(ends);
    record.file_ = UniqueFd(
        SystemCall("open /run/viaduct/.xdp/" + name,
                   openat(folder, name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)));
    if (record.IsLast() && record.Read().empty()) record.Write(ends);
    SystemCall("lock a file in /run/viaduct/.xdp", flock(record.file_.get(), LOCK_SH));
    return record;
  }
  // Whether no other process needs the record. The caller must hold the lock of the folder. If
  // another process needs the record, this process loses its lock on the record.
  bool IsLast() const { return flock(file_.get(), LOCK_EX | LOCK_NB) == 0; }
  nlohmann::json Read() const {
    const std::string text = ReadToEnd(Duplicate().get(), "a file in /run/viaduct/.xdp");
    const auto all = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    return all.is_object() ? all : nlohmann::json::object();  // no object: the record is new
  }
  int fd() const { return file_.get(); }

 private:
  UniqueFd Duplicate() const {
    lseek(file_.get(), 0, SEEK_SET);
    return sys::Duplicate(file_.get());
  }
  // Writes the names of all active offloads that any of the processes might switch off.
  void Write(const std::vector<NeededOff>& ends) const {
    nlohmann::json all = nlohmann::json::object();
    for (const NeededOff& end : ends) {
      auto names = sys::ActiveOffloads(end.network.get(), end.interface, Offloads::kAll);
      std::ranges::move(sys::ActiveOffloads(end.network.get(), end.interface, Offloads::kTags),
                        std::back_inserter(names));
      all[NameOf(end)] = names;
    }
    SystemCall("empty a file in /run/viaduct/.xdp", ftruncate(file_.get(), 0));
    WriteAll(Duplicate().get(), all.dump(), "a file in /run/viaduct/.xdp");
  }

  UniqueFd file_;
};

// Returns the ends with their present interface names, if the interfaces still exist.
std::vector<NeededOff> PresentEnds(int network, int ifindex) {
  const sys::NamespaceScope scope(network);
  const auto link = sys::Netlink().FindLink(ifindex);
  return link ? OffloadsInTheWay(link->name) : std::vector<NeededOff>();
}

void Restore(const std::vector<NeededOff>& ends, const nlohmann::json& were_on) {
  for (const NeededOff& end : ends) {
    const auto names = were_on.find(NameOf(end));
    if (names == were_on.end()) continue;
    try {
      sys::EnableOffloads(end.network.get(), end.interface, names->get<std::vector<std::string>>());
    } catch (const Error&) {
      continue;  // the interface has just been removed
    }
  }
}

struct Guarded {
  UniqueFd network;  // the namespace of the interface
  int ifindex;
  Record record;
  std::string record_name;
};

// The message in which a port reports its XDP program after it was attached.
struct Attached {
  uint32_t program = 0;
  uint32_t left = 0;  // the program's id if it must be detached; else 0
};

// Waits until the port is closed, or its process has exited. Returns the last message of the port.
Attached AwaitEnd(int connection) {
  Attached attached;
  for (;;) {
    const ssize_t got = recv(connection, &attached, sizeof attached, 0);
    if (got == 0 || (got < 0 && errno != EINTR)) return attached;
  }
}

// Waits until the program is unloaded: while a program is attached, a driver may refuse to switch
// offloads on (veth_xdp_set() in drivers/net/veth.c).
void AwaitEndOf(const Attached& attached, const Guarded& guarded) {
  constexpr Duration kTimeout = Duration::Seconds(5);
  if (attached.left != 0) {
    const sys::NamespaceScope scope(guarded.network.get());
    DetachLeft(guarded.ifindex, attached.left);
  }
  if (attached.program != 0) AwaitUnloaded(attached.program, kTimeout);
}

void Guard(const Guarded& guarded, int connection) {
  sys::DropStandardStreams();
  sys::CloseAllBut({connection, guarded.network.get(), guarded.record.fd()});
  AwaitEndOf(AwaitEnd(connection), guarded);
  const UniqueFd folder = LockFolder();
  if (!guarded.record.IsLast()) return;
  Restore(PresentEnds(guarded.network.get(), guarded.ifindex), guarded.record.Read());
  // The record's file is removed last: a process that finds the file knows that offloads may still
  // have to be restored.
  unlinkat(folder.get(), guarded.record_name.c_str(), 0);
}

}  // namespace

std::vector<std::string> Active(const NeededOff& needed) {
  std::vector<std::string> names;
  for (const Offloads kind : needed.kinds) {
    std::ranges::move(sys::ActiveOffloads(needed.network.get(), needed.interface, kind),
                      std::back_inserter(names));
  }
  return names;
}

void SwitchOff(const NeededOff& needed) {
  for (const Offloads kind : needed.kinds) {
    sys::DisableOffloads(needed.network.get(), needed.interface, kind);
  }
}

InterfaceGuardian::InterfaceGuardian(const std::string& interface, const std::string& kind) {
  const std::vector<NeededOff> ends = OffloadsInTheWay(interface, kind);
  const UniqueFd folder = LockFolder();
  const Guarded guarded{sys::OpenCurrentNamespace(), ends.front().ifindex,
                        Record::Join(folder.get(), ends), RecordName(ends)};
  guardian_ = std::make_unique<sys::Guardian>(
      [&guarded](int connection) { xdp::Guard(guarded, connection); });
  for (const NeededOff& end : ends) SwitchOff(end);
}

void InterfaceGuardian::Guard(const Program& program) {
  const Attached attached{program.Id(), program.Left()};
  (void)!send(guardian_->Connection(), &attached, sizeof attached, MSG_NOSIGNAL);
}

}  // namespace viaduct::xdp
