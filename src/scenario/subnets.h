// Assigns addresses automatically: allocates subnets one after the other from a prefix.
#pragma once

#include <cstdint>
#include <vector>

#include "base/wire/address.h"

namespace viaduct::scenario {

// Allocates subnets of `pool` in order, except those that overlap with reserved subnets.
class SubnetPool {
 public:
  explicit SubnetPool(const wire::IpPrefix& pool) : pool_(pool.Network()) {}
  void Reserve(const wire::IpPrefix& subnet) { reserved_.push_back(subnet.Network()); }
  // Returns the next free subnet with this prefix length. Throws UsageError when the pool is used
  // up.
  wire::IpPrefix Take(int length);

 private:
  wire::IpPrefix pool_;
  uint64_t next_ = 0;  // offset in the pool: in addresses (IPv4), in /64 networks (IPv6)
  std::vector<wire::IpPrefix> reserved_;
};

bool Overlap(const wire::IpPrefix& a, const wire::IpPrefix& b);
// Returns the `number`th address of a subnet (0 is the address of the subnet), with the subnet's
// prefix length.
wire::IpPrefix HostAddress(const wire::IpPrefix& subnet, uint32_t number);

}  // namespace viaduct::scenario
