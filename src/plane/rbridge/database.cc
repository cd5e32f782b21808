#include "plane/rbridge/database.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <set>

namespace viaduct::rbridge {
namespace {

// Compares the age of two LSPs by ISO 10589 section 7.3.16.2 and 7.3.16.1. Two LSPs with the same
// sequence number differ only after a restart: in that case the LSP with the larger checksum counts
// as newer on all RBridges.
std::strong_ordering Age(const LspEntry& a, const LspEntry& b) {
  if (a.sequence != b.sequence) return a.sequence <=> b.sequence;
  const bool a_withdrawn = a.lifetime == 0, b_withdrawn = b.lifetime == 0;
  if (a_withdrawn != b_withdrawn) return a_withdrawn <=> b_withdrawn;
  return a_withdrawn ? std::strong_ordering::equal : a.checksum <=> b.checksum;
}

LspEntry EntryOf(const Lsp& lsp) { return {lsp.lifetime, lsp.id, lsp.sequence, lsp.checksum}; }

}  // namespace

uint16_t Database::LifetimeOf(const Stored& stored, Instant now) const {
  if (stored.withdrawn || now >= stored.expires) return 0;
  const int64_t seconds =
      (stored.expires - now + Duration::Nanoseconds(999'999'999)) / Duration::Seconds(1);
  return static_cast<uint16_t>(std::min<int64_t>(seconds, std::numeric_limits<uint16_t>::max()));
}

Database::Verdict Database::Compare(const LspEntry& entry, Instant now) const {
  const auto found = lsps_.find(entry.id);
  if (found == lsps_.end()) return Verdict::kNewer;
  LspEntry known = EntryOf(found->second.lsp);
  known.lifetime = LifetimeOf(found->second, now);
  const auto order = rbridge::Age(entry, known);
  return order > 0 ? Verdict::kNewer : order == 0 ? Verdict::kSame : Verdict::kOlder;
}

Database::Verdict Database::Receive(const Lsp& lsp, Instant now) {
  const Verdict verdict = Compare(EntryOf(lsp), now);
  if (verdict != Verdict::kNewer) return verdict;
  // A withdrawal of an unknown LSP is not stored (ISO 10589 section 7.3.16.4 b).
  if (lsp.lifetime == 0 && !Knows(lsp.id)) return Verdict::kSame;
  if (!IsOwn(lsp.id)) {
    Store(lsp, now);
    return verdict;
  }
  const auto own = refresh_at_.find(lsp.id.fragment);
  Stored& stored = lsps_[lsp.id];
  if (own != refresh_at_.end() && lsp.id.pseudonode == 0) {
    const Octets tlvs = std::move(stored.lsp.tlvs);
    stored.lsp.sequence = lsp.sequence;
    OriginateFragment(lsp.id.fragment, tlvs, now);
  } else {
    stored.lsp = lsp;
    Withdraw(stored, now);
  }
  return Verdict::kOwn;
}

void Database::Store(const Lsp& lsp, Instant now) {
  Stored& stored = lsps_[lsp.id];
  stored.lsp = lsp;
  stored.withdrawn = false;
  // A lifetime longer than any RBridge of this network would set is shortened (the attack of RFC
  // 7987).
  stored.expires = now + std::min(Duration::Seconds(lsp.lifetime), ages_.lifetime);
  if (lsp.lifetime == 0) Withdraw(stored, now);
}

void Database::Withdraw(Stored& stored, Instant now) const {
  stored.withdrawn = true;
  stored.lsp.tlvs.clear();
  stored.expires = now + ages_.withdrawn;
}

void Database::OriginateFragment(uint8_t fragment, const Octets& tlvs, Instant now) {
  const LspId id{self_, 0, fragment};
  Stored& stored = lsps_[id];
  stored.lsp.id = id;
  stored.lsp.tlvs = tlvs;
  ++stored.lsp.sequence;
  stored.withdrawn = false;
  stored.expires = now + ages_.lifetime;
  stored.lsp.Seal();
  refresh_at_[fragment] = now + ages_.refresh;
}

std::vector<LspId> Database::Originate(const LspContent& content, Instant now) {
  const std::vector<Octets> fragments = WriteFragments(self_, content);
  std::vector<LspId> changed;
  for (size_t i = 0; i < fragments.size(); ++i) {
    const auto number = static_cast<uint8_t>(i);
    const LspId id{self_, 0, number};
    if (refresh_at_.contains(number) && lsps_.at(id).lsp.tlvs == fragments[i]) continue;
    OriginateFragment(number, fragments[i], now);
    changed.push_back(id);
  }
  for (auto at = refresh_at_.begin(); at != refresh_at_.end();) {
    if (at->first < fragments.size()) {
      ++at;
      continue;
    }
    changed.push_back({self_, 0, at->first});
    Withdraw(lsps_.at(changed.back()), now);
    at = refresh_at_.erase(at);
  }
  return changed;
}

std::vector<LspId> Database::Age(Instant now) {
  std::vector<LspId> flooded;
  for (auto at = lsps_.begin(); at != lsps_.end();) {
    Stored& stored = at->second;
    const bool expired = now >= stored.expires;
    if (expired && stored.withdrawn) {
      at = lsps_.erase(at);
      continue;
    }
    const auto own = IsOwn(at->first) ? refresh_at_.find(at->first.fragment) : refresh_at_.end();
    if (own != refresh_at_.end() && now >= own->second && !stored.withdrawn) {
      const Octets tlvs = stored.lsp.tlvs;
      OriginateFragment(at->first.fragment, tlvs, now);
      flooded.push_back(at->first);
    } else if (expired) {
      Withdraw(stored, now);
      flooded.push_back(at->first);
    }
    ++at;
  }
  return flooded;
}

Lsp Database::Get(const LspId& id, Instant now) const {
  const Stored& stored = lsps_.at(id);
  Lsp lsp = stored.lsp;
  lsp.lifetime = LifetimeOf(stored, now);
  if (lsp.lifetime == 0) lsp.tlvs.clear();
  return lsp;
}

LspEntry Database::EntryFor(const LspId& id, Instant now) const {
  const auto found = lsps_.find(id);
  if (found == lsps_.end()) return {.lifetime = 0, .id = id, .sequence = 0, .checksum = 0};
  LspEntry entry = EntryOf(found->second.lsp);
  entry.lifetime = LifetimeOf(found->second, now);
  return entry;
}

std::vector<SequenceNumbers> Database::Summary(Instant now) const {
  std::vector<SequenceNumbers> summary;
  const auto begin = [&](const LspId& first) {
    summary.push_back(
        {.complete = true, .source = self_, .first = first, .last = {}, .entries = {}});
  };
  begin({});
  for (const auto& [id, stored] : lsps_) {
    if (summary.back().entries.size() == SequenceNumbers::kMaxEntries) {
      // The ranges of consecutive PDUs overlap by one LSP, so that there is no gap between them.
      const LspEntry last = summary.back().entries.back();
      summary.back().last = last.id;
      begin(last.id);
      summary.back().entries.push_back(last);
    }
    summary.back().entries.push_back(EntryFor(id, now));
  }
  summary.back().last.system.bytes.fill(0xff);
  summary.back().last.pseudonode = summary.back().last.fragment = 0xff;
  return summary;
}

Database::Difference Database::CompareAll(const SequenceNumbers& numbers, Instant now) const {
  Difference difference;
  std::set<LspId> listed;
  for (const LspEntry& entry : numbers.entries) {
    listed.insert(entry.id);
    const Verdict verdict = Compare(entry, now);
    // An LSP that neither RBridge knows, or that has been withdrawn, cannot be requested.
    const bool exists = Knows(entry.id) || (entry.sequence != 0 && entry.lifetime != 0);
    if (verdict == Verdict::kOlder) difference.to_send.push_back(entry.id);
    if (verdict == Verdict::kNewer && exists) difference.to_request.push_back(entry.id);
  }
  if (!numbers.complete) return difference;
  for (auto at = lsps_.lower_bound(numbers.first); at != lsps_.end() && at->first <= numbers.last;
       ++at) {
    const bool valid = LifetimeOf(at->second, now) != 0;
    if (valid && !listed.contains(at->first)) difference.to_send.push_back(at->first);
  }
  return difference;
}

std::map<SystemId, LspContent> Database::Contents() const {
  std::map<SystemId, LspContent> contents;
  for (const auto& [id, stored] : lsps_) {
    if (stored.withdrawn || id.pseudonode != 0) continue;
    // Fragments of a system whose fragment 0 is missing are skipped: fragment 0 is the first in the
    // order of identifiers.
    if (id.fragment != 0 && !contents.contains(id.system)) continue;
    LspContent content = id.fragment == 0 ? LspContent{} : contents[id.system];
    if (ReadFragment(stored.lsp.tlvs, content)) contents[id.system] = std::move(content);
  }
  return contents;
}

}  // namespace viaduct::rbridge
