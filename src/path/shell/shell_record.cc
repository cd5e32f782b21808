#include "path/shell/shell_record.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "path/shell/shell_outside.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"

namespace viaduct::path {
namespace {

// The time between SIGTERM and SIGKILL.
constexpr Duration kInsideTimeout = Duration::Milliseconds(500);

void EndProcesses(const ShellInfo& shell) {
  if (!shell.inside) return;
  const UniqueFd inside = sys::FindNamespace(shell.inside->network);
  if (inside) sys::EndProcessesIn({shell.inside->network.inode}, kInsideTimeout);
}

void RemoveLink(const std::string& name) {
  sys::Netlink here;
  if (const auto link = here.FindLink(name)) here.DeleteLink(link->ifindex);
}

void RemoveDeadShell(const std::string& name, const sys::MachineLock& lock) {
  for (const ShellInfo& shell : ListShells()) {
    if (shell.name != name || shell.alive) continue;
    const auto problems = RemoveShell(shell, lock);
    if (!problems.empty()) throw Error(problems.front());
  }
}

}  // namespace

sys::OwnEntry RecordShell(ShellInfo* shell, const sys::MachineLock& lock) {
  // A dead shell may have the same name, because its process had the same pid as this process.
  RemoveDeadShell(shell->name, lock);
  sys::OwnEntry own =
      Shells().Take({shell->name, shell->uid, false, {{"network", shell->network}}});
  static_cast<sys::RegistryEntry&>(*shell) = own;
  return own;
}

void RecordInside(const ShellInside& inside, ShellInfo* shell, sys::OwnEntry* record) {
  record->Write({{"inside", inside}});
  shell->inside = inside;
}

void RecordRules(wire::Family family, ShellInfo* shell, sys::OwnEntry* record) {
  record->Write({{"rules", family}});
  shell->rules.push_back(family);
}

void RecordForwarding(const ForwardingInterface& interface, ShellInfo* shell,
                      sys::OwnEntry* record) {
  record->Write(interface);
  shell->forwarding.push_back(interface);
}

std::vector<std::string> RemoveShell(const ShellInfo& shell, const sys::MachineLock&) {
  std::vector<std::string> problems;
  const auto attempt = [&](const auto& work) {
    try {
      work();
    } catch (const std::exception& error) {
      problems.push_back(fmt::format("shell {}: {}", shell.name, error.what()));
    }
  };
  attempt([&] { EndProcesses(shell); });
  attempt([&] {
    const UniqueFd network = sys::FindNamespace(shell.network);
    if (!network) return;  // the namespace is gone, and with it all changes
    const sys::NamespaceScope scope(network.get());
    attempt([&] { StopForwarding(shell); });
    for (const wire::Family family : shell.rules) {
      attempt([&] { RemoveRules(shell.name, family); });
    }
    attempt([&] { RemoveLink(shell.name); });
  });
  return problems.empty() ? Shells().Remove(shell) : problems;
}

std::vector<ShellInfo> RemoveDeadShells(std::vector<std::string>* problems) {
  const sys::MachineLock lock;
  return Shells().RemoveDead<ShellInfo>(
      problems, [&](const ShellInfo& shell) { return RemoveShell(shell, lock); });
}

}  // namespace viaduct::path
