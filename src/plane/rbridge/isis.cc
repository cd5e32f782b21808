#include "plane/rbridge/isis.h"

#include <fmt/format.h>

#include <algorithm>

#include "plane/rbridge/tlv.h"

namespace viaduct::rbridge {
namespace {

using wire::ConstBytes, wire::MacAddress;

// The length and the first byte of the header that all PDUs have (ISO 10589 section 9.5).
constexpr size_t kCommonHeader = 8;
constexpr uint8_t kDiscriminator = 0x83;

constexpr size_t HeaderOf(PduType type) {
  switch (type) {
    case PduType::kHello:
    case PduType::kLsp:
      return 27;
    case PduType::kCompleteNumbers:
      return 33;
    case PduType::kPartialNumbers:
      return 17;
  }
  return 0;
}

// Returns the common header of a PDU; its field "maximum area addresses" is 1, as all RBridges have
// one area address, the byte 0 (RFC 6325 section 4.2.3.1).
Writer CommonHeader(PduType type) {
  Writer out;
  out.Number(kDiscriminator, 1).Number(HeaderOf(type), 1).Number(1, 1).Number(0, 1);
  out.Number(static_cast<uint8_t>(type), 1).Number(1, 1).Number(0, 1).Number(1, 1);
  return out;
}

// Returns the bytes after the common header up to the PDU's length, if the PDU is of this type.
// `length_at`: the offset of the PDU's length field.
std::optional<Reader> Open(ConstBytes pdu, PduType type, size_t length_at) {
  if (TypeOf(pdu) != type || pdu.size() < HeaderOf(type)) return std::nullopt;
  const size_t length = wire::Load16(&pdu[length_at]);
  if (length < HeaderOf(type) || length > pdu.size()) return std::nullopt;
  return Reader(pdu.first(length).subspan(kCommonHeader));
}

bool HasAreaZero(Reader value) {
  while (!value.empty()) {
    const ConstBytes area = value.Take(value.Number8());
    if (value.ok() && area.size() == 1 && area[0] == std::byte{0}) return true;
  }
  return false;
}

// The sub-TLV Special VLANs and Flags (RFC 7176 section 2.2.1), in an MT-Port-Capability TLV of
// topology 0.
constexpr uint8_t kSpecialVlans = 1;
constexpr uint16_t kAppointedForwarder = 0x8000, kBypassPseudonode = 0x1000;

void ReadPortCapability(Reader value, Hello& hello) {
  value.Take(2);  // the topology
  ForEachItem(value, [&](uint8_t type, Reader& item) {
    if (type != kSpecialVlans) return;
    hello.port = item.Number16();
    hello.nickname = item.Number16();
    hello.forwards_natively = (item.Number16() & kAppointedForwarder) != 0;
  });
}

Writer PortCapability(const Hello& hello) {
  constexpr uint16_t kVlan = 1;  // the outer VLAN and the designated VLAN
  const uint16_t flags = (hello.forwards_natively ? kAppointedForwarder : 0) | kBypassPseudonode;
  Writer special;
  special.Number(hello.port, 2).Number(hello.nickname, 2).Number(flags | kVlan, 2).Number(kVlan, 2);
  return Writer().Number(0, 2).Item(kSpecialVlans, special);
}

// The TRILL Neighbor TLV (RFC 7176 section 2.5): flags, then nine bytes for each neighbour.
constexpr size_t kHeardInItem = 28;
constexpr uint8_t kSmallest = 0x80, kLargest = 0x40;  // flags of the first and last TLV

void ReadNeighbours(Reader value, Hello& hello) {
  value.Take(1);
  while (value.size() >= 9) {
    value.Take(3);  // the flag and the tested MTU
    hello.heard.push_back(value.Get<MacAddress>());
  }
}

void WriteNeighbours(const Hello& hello, Writer& out) {
  const size_t count = hello.heard.size();
  for (size_t first = 0; first == 0 || first < count; first += kHeardInItem) {
    const size_t end = std::min(count, first + kHeardInItem);
    Writer item;
    item.Number((first == 0 ? kSmallest : 0) | (end == count ? kLargest : 0), 1);
    for (size_t i = first; i < end; ++i) item.Number(0, 3).Put(hello.heard[i]);
    out.Item(tlv::kTrillNeighbour, item);
  }
}

// Returns ISO 8473's checksum (RFC 905 annex B) of bytes of which the two at `at` are the checksum
// field.
uint16_t Fletcher(ConstBytes bytes, size_t at) {
  int c0 = 0, c1 = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const bool own = i == at || i == at + 1;
    c0 = (c0 + (own ? 0 : wire::Load8(&bytes[i]))) % 255;
    c1 = (c1 + c0) % 255;
  }
  const int behind = static_cast<int>((bytes.size() - at - 1) % 255);
  int x = (behind * c0 - c1) % 255;
  if (x <= 0) x += 255;
  int y = 510 - c0 - x;
  if (y > 255) y -= 255;
  return static_cast<uint16_t>(x << 8 | y);
}

// The offset of the checksummed part of an LSP, and the offset of the checksum field in that part.
constexpr size_t kLspIdAt = 12, kChecksumAt = 12;

uint16_t ChecksumOf(ConstBytes pdu) { return Fletcher(pdu.subspan(kLspIdAt), kChecksumAt); }

constexpr uint8_t kLevel1 = 1;
constexpr size_t kEntrySize = 16;
constexpr size_t kEntriesInItem = 15;

}  // namespace

std::string SystemId::ToString() const {
  const auto& b = bytes;
  return fmt::format("{:02x}{:02x}.{:02x}{:02x}.{:02x}{:02x}", b[0], b[1], b[2], b[3], b[4], b[5]);
}

std::optional<PduType> TypeOf(ConstBytes pdu) {
  if (pdu.size() < kCommonHeader) return std::nullopt;
  const auto at = [&](size_t i) { return wire::Load8(&pdu[i]); };
  const auto type = static_cast<PduType>(at(4) & 0x1f);
  const bool six_bytes = at(3) == 0 || at(3) == 6;  // the length of system identifiers
  const bool valid = at(0) == kDiscriminator && at(2) == 1 && six_bytes && at(5) == 1;
  if (!valid || HeaderOf(type) == 0 || at(1) != HeaderOf(type)) return std::nullopt;
  return type;
}

std::optional<Hello> Hello::Parse(ConstBytes pdu) {
  auto in = Open(pdu, PduType::kHello, 17);
  if (!in) return std::nullopt;
  Hello hello;
  in->Take(1);  // the circuit type
  hello.source = in->Get<SystemId>();
  hello.holding_time = in->Number16();
  in->Take(2);  // the PDU length
  hello.priority = in->Number8() & 0x7f;
  hello.designated = in->Get<SystemId>();
  in->Take(1);  // the pseudonode's number
  bool in_area = false;
  const bool sound = ForEachItem(*in, [&](uint8_t type, Reader& value) {
    if (type == tlv::kAreaAddresses) in_area |= HasAreaZero(value);
    if (type == tlv::kPortCapability) ReadPortCapability(value, hello);
    if (type == tlv::kTrillNeighbour) ReadNeighbours(value, hello);
  });
  return sound && in_area ? std::optional(std::move(hello)) : std::nullopt;
}

Octets Hello::Write() const {
  Writer out = CommonHeader(PduType::kHello);
  out.Number(kLevel1, 1).Put(source).Number(holding_time, 2);
  const size_t length_at = out.size();
  out.Number(0, 2).Number(priority, 1).Put(designated).Number(1, 1);
  out.Item(tlv::kAreaAddresses, Writer().Number(0x0100, 2));
  out.Item(tlv::kProtocols, Writer().Number(tlv::kTrillNlpid, 1));
  out.Item(tlv::kPortCapability, PortCapability(*this));
  WriteNeighbours(*this, out);
  out.Set16(length_at, out.size());
  return out.Release();
}

void Lsp::Seal() {
  checksum = 0;
  checksum = ChecksumOf(Write());
}

std::optional<Lsp> Lsp::Parse(ConstBytes pdu) {
  auto in = Open(pdu, PduType::kLsp, 8);
  if (!in) return std::nullopt;
  const size_t length = in->Number16();
  Lsp lsp;
  lsp.lifetime = in->Number16();
  lsp.id = in->GetLspId();
  lsp.sequence = in->Number(4);
  lsp.checksum = in->Number16();
  lsp.flags = in->Number8();
  const ConstBytes tlvs = in->Take(in->size());
  if (lsp.sequence == 0) return std::nullopt;
  // A withdrawn LSP consists of a header only, which still has the checksum of the LSP before.
  if (lsp.lifetime == 0) return lsp;
  if (lsp.checksum != ChecksumOf(pdu.first(length))) return std::nullopt;
  lsp.tlvs.assign(tlvs.begin(), tlvs.end());
  return lsp;
}

Octets Lsp::Write() const {
  Writer out = CommonHeader(PduType::kLsp);
  out.Number(HeaderOf(PduType::kLsp) + tlvs.size(), 2).Number(lifetime, 2).PutLspId(id);
  out.Number(sequence, 4).Number(checksum, 2).Number(flags, 1).Append(tlvs);
  return out.Release();
}

std::optional<SequenceNumbers> SequenceNumbers::Parse(ConstBytes pdu) {
  SequenceNumbers numbers;
  numbers.complete = TypeOf(pdu) == PduType::kCompleteNumbers;
  auto in = Open(pdu, numbers.complete ? PduType::kCompleteNumbers : PduType::kPartialNumbers, 8);
  if (!in) return std::nullopt;
  in->Take(2);  // the PDU length
  numbers.source = in->Get<SystemId>();
  in->Take(1);  // the circuit
  if (numbers.complete) {
    numbers.first = in->GetLspId();
    numbers.last = in->GetLspId();
  }
  const bool sound = ForEachItem(*in, [&](uint8_t type, Reader& value) {
    while (type == tlv::kLspEntries && value.ok() && !value.empty()) {
      LspEntry entry;
      entry.lifetime = value.Number16();
      entry.id = value.GetLspId();
      entry.sequence = value.Number(4);
      entry.checksum = value.Number16();
      numbers.entries.push_back(entry);
    }
  });
  return sound ? std::optional(std::move(numbers)) : std::nullopt;
}

Octets SequenceNumbers::Write() const {
  static_assert(HeaderOf(PduType::kCompleteNumbers) + kMaxEntries * kEntrySize +
                    2 * ((kMaxEntries + kEntriesInItem - 1) / kEntriesInItem) <=
                kMaxPdu);
  Writer out = CommonHeader(complete ? PduType::kCompleteNumbers : PduType::kPartialNumbers);
  out.Number(0, 2).Put(source).Number(0, 1);
  if (complete) out.PutLspId(first).PutLspId(last);
  for (size_t i = 0; i < entries.size(); i += kEntriesInItem) {
    Writer item;
    for (size_t k = i; k < std::min(entries.size(), i + kEntriesInItem); ++k) {
      const LspEntry& entry = entries[k];
      item.Number(entry.lifetime, 2).PutLspId(entry.id);
      item.Number(entry.sequence, 4).Number(entry.checksum, 2);
    }
    out.Item(tlv::kLspEntries, item);
  }
  out.Set16(kCommonHeader, out.size());
  return out.Release();
}

}  // namespace viaduct::rbridge
