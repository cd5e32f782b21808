#include "plane/rbridge/terminals.h"

#include <algorithm>
#include <utility>

namespace viaduct::rbridge {

using Entry = TerminalTable::Entry;

// Erases the entries that match, in two steps, because erasing an entry moves others.
template <class Predicate>
void Terminals::EraseIf(Predicate predicate) {
  std::vector<TerminalKey> gone;
  for (const Entry& entry : tables_.terminals.slots()) {
    if (entry.key == 0 || !predicate(entry)) continue;
    gone.push_back(entry.key);
    local_changed_ |= entry.location.rbridge == 0;
  }
  for (const TerminalKey key : gone) tables_.terminals.Erase(key);
}

bool Terminals::Learn(const Seen& seen) {
  const Entry* known = tables_.terminals.Find(seen.key);
  const bool was_local = known && known->location.rbridge == 0;
  const bool stored = tables_.terminals.Set(seen.key, seen.location, tables_.epoch);
  return stored && was_local != (seen.location.rbridge == 0);
}

bool Terminals::Update(const LinkStates& states,
                       const std::map<SystemId, RBridgeIndex>& reachable) {
  local_changed_ = false;
  std::set<SystemId> returned;
  for (auto& [system, announcer] : announcers_) {
    const auto now = reachable.find(system);
    const RBridgeIndex index = now == reachable.end() ? kNone : now->second;
    if (index == announcer.index) continue;
    if (index != kNone) returned.insert(system);
    EraseIf([&old = announcer.index](const Entry& entry) {
      return old != kNone && entry.location.rbridge == old;
    });
    announcer.index = index;
  }
  for (const auto& [system, index] : reachable) {
    if (index == 0) continue;  // skips this RBridge
    Announcer& announcer = announcers_[system];
    announcer.index = index;
    const auto said = states.find(system);
    Keys keys;
    if (said != states.end()) {
      keys.insert(said->second.terminals.begin(), said->second.terminals.end());
    }
    Announce(announcer, keys, returned.contains(system));
  }
  return std::exchange(local_changed_, false);
}

void Terminals::Announce(Announcer& announcer, const Keys& keys, bool returned) {
  const Keys before = std::exchange(announcer.keys, keys);
  for (const TerminalKey key : keys) {
    const Entry* known = tables_.terminals.Find(key);
    // The entry of a terminal that was announced before remains unchanged. Only if the entry has
    // been removed since, and the RBridge is reachable again, the entry is written again.
    if (before.contains(key) && !(returned && !known)) continue;
    local_changed_ |= known && known->location.rbridge == 0;
    tables_.terminals.Set(key, {.rbridge = announcer.index, .port = kNone}, tables_.epoch);
  }
  for (const TerminalKey key : before) {
    const Entry* known = tables_.terminals.Find(key);
    if (keys.contains(key) || !known || known->location.rbridge != announcer.index) continue;
    tables_.terminals.Erase(key);
    FindAgain(key);
  }
}

// Sets the terminal's location to another RBridge that announces the terminal, if there is one.
void Terminals::FindAgain(TerminalKey key) {
  for (const auto& [system, announcer] : announcers_) {
    if (announcer.index == kNone || !announcer.keys.contains(key)) continue;
    tables_.terminals.Set(key, {.rbridge = announcer.index, .port = kNone}, tables_.epoch);
    return;
  }
}

bool Terminals::ForgetPort(PortIndex port) {
  local_changed_ = false;
  EraseIf([&](const Entry& entry) {
    return entry.location.rbridge == 0 && entry.location.port == port;
  });
  return std::exchange(local_changed_, false);
}

bool Terminals::IsAnnounced(const Entry& entry) const {
  return std::ranges::any_of(announcers_, [&](const auto& one) {
    return one.second.index == entry.location.rbridge && one.second.keys.contains(entry.key);
  });
}

bool Terminals::NextEpoch() {
  local_changed_ = false;
  ++tables_.epoch;
  EraseIf([&](const Entry& entry) {
    return tables_.epoch - entry.epoch > kSilentEpochs && !IsAnnounced(entry);
  });
  return std::exchange(local_changed_, false);
}

std::vector<TerminalKey> Terminals::Local() const {
  std::vector<TerminalKey> keys;
  for (const Entry& entry : tables_.terminals.slots()) {
    if (entry.key != 0 && entry.location.rbridge == 0) keys.push_back(entry.key);
  }
  std::ranges::sort(keys);
  return keys;
}

}  // namespace viaduct::rbridge
