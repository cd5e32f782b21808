// Classes that read and write bytes in order, and the type-length-value items of IS-IS.
#pragma once

#include <cstring>
#include <optional>

#include "plane/rbridge/isis.h"

namespace viaduct::rbridge {

namespace tlv {
inline constexpr uint8_t kAreaAddresses = 1;
inline constexpr uint8_t kLspEntries = 9;
inline constexpr uint8_t kExtendedReachability = 22;  // RFC 5305
inline constexpr uint8_t kProtocols = 129;
inline constexpr uint8_t kPortCapability = 143;    // RFC 6165, RFC 7176 section 2.2
inline constexpr uint8_t kTrillNeighbour = 145;    // RFC 7176 section 2.5
inline constexpr uint8_t kMacReachability = 147;   // RFC 6165
inline constexpr uint8_t kRouterCapability = 242;  // RFC 7981
inline constexpr uint8_t kTrillNlpid = 0xc0;       // RFC 6328
}  // namespace tlv

// Reads values from the front of the bytes. After a read beyond the end, ok() returns false and
// every value is 0.
class Reader {
 public:
  explicit Reader(wire::ConstBytes bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  bool empty() const { return rest_.empty(); }
  size_t size() const { return rest_.size(); }

  wire::ConstBytes Take(size_t count) {
    if (count > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const wire::ConstBytes taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  uint32_t Number(size_t bytes) {
    uint32_t number = 0;
    for (const std::byte byte : Take(bytes)) number = number << 8 | static_cast<uint8_t>(byte);
    return number;
  }
  uint8_t Number8() { return static_cast<uint8_t>(Number(1)); }
  uint16_t Number16() { return static_cast<uint16_t>(Number(2)); }
  // Reads an address: a MacAddress or a SystemId.
  template <class Address>
  Address Get() {
    Address address;
    const wire::ConstBytes taken = Take(sizeof address.bytes);
    if (!taken.empty()) std::memcpy(address.bytes.data(), taken.data(), taken.size());
    return address;
  }
  LspId GetLspId() {
    LspId id;
    id.system = Get<SystemId>();
    id.pseudonode = Number8();
    id.fragment = Number8();
    return id;
  }

 private:
  wire::ConstBytes rest_;
  bool ok_ = true;
};

class Writer {
 public:
  Writer& Number(uint64_t number, size_t bytes) {
    for (size_t i = bytes; i-- > 0;) octets_.push_back(static_cast<std::byte>(number >> (8 * i)));
    return *this;
  }
  template <class Address>
  Writer& Put(const Address& address) {
    for (const uint8_t byte : address.bytes) octets_.push_back(std::byte{byte});
    return *this;
  }
  Writer& PutLspId(const LspId& id) {
    return Put(id.system).Number(id.pseudonode, 1).Number(id.fragment, 1);
  }
  Writer& Append(wire::ConstBytes bytes) {
    octets_.insert(octets_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  // Writes a TLV; `value` has at most 255 bytes.
  Writer& Item(uint8_t type, const Writer& value) {
    return Number(type, 1).Number(value.size(), 1).Append(value.octets_);
  }
  void Set16(size_t offset, size_t number) {
    wire::Store16(&octets_[offset], static_cast<uint16_t>(number));
  }
  size_t size() const { return octets_.size(); }
  Octets Release() { return std::move(octets_); }

 private:
  Octets octets_;
};

// Calls f(type, value as a Reader) for each TLV. Returns false if the last TLV does not end where
// the bytes end, or if f has read beyond the end of a value.
template <class F>
bool ForEachItem(Reader items, F f) {
  while (!items.empty()) {
    const uint8_t type = items.Number8();
    Reader value(items.Take(items.Number8()));
    if (!items.ok()) return false;
    f(type, value);
    if (!value.ok()) return false;
  }
  return true;
}

}  // namespace viaduct::rbridge
