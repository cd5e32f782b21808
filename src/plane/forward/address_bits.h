// Reads the bits of an IP address, beginning with the first bit, in steps of as many bits as one
// level of the forwarding table's tree covers.
#pragma once

#include <cstdint>

#include "base/wire/address.h"
#include "plane/forward/table_format.h"

namespace viaduct::forward::table {

class AddressBits {
 public:
  explicit AddressBits(const wire::IpAddress& address) {
    for (size_t i = 0; i < 8; ++i) {
      high_ = high_ << 8 | address.bytes[i];
      low_ = low_ << 8 | address.bytes[i + 8];
    }
  }
  // Returns the next kStride bits of the address; after its last bit, zeros.
  size_t Next() {
    const size_t slot = high_ >> (64 - kStride);
    high_ = high_ << kStride | low_ >> (64 - kStride);
    low_ <<= kStride;
    return slot;
  }

 private:
  uint64_t high_ = 0, low_ = 0;
};

}  // namespace viaduct::forward::table
