#include "sys/bpf/map.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cerrno>

#include "base/error.h"

namespace viaduct::bpf {

static_assert(BPF_EXIST == 2 && BPF_F_LOCK == 4, "map.h has the kernel's values");

size_t PossibleProcessors() { return static_cast<size_t>(libbpf_num_possible_cpus()); }

void Map::Require(bool success, std::string_view doing) {
  if (!success) throw SystemError(doing, errno);
}

bool Map::SetBytes(const void* key, const void* value, uint64_t flags) const {
  return bpf_map_update_elem(fd_, key, value, flags) == 0;
}

bool Map::GetBytes(const void* key, void* value, uint64_t flags) const {
  return bpf_map_lookup_elem_flags(fd_, key, value, flags) == 0;
}

void Map::RemoveBytes(const void* key) const { bpf_map_delete_elem(fd_, key); }

}  // namespace viaduct::bpf
