#include "plane/forward/neighbour_table.h"

#include "plane/forward/hash.h"

namespace viaduct::forward {

size_t NeighbourTable::Hash::operator()(const Key& key) const {
  return HashOf(key.address, key.ifindex);
}

}  // namespace viaduct::forward
