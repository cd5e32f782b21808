#include "run/load/refusals.h"

#include <cerrno>

namespace viaduct::load {
namespace {

constexpr uint64_t kHopeless = 100;

}  // namespace

bool IsHopeless(int error, uint64_t count) {
  const bool is_the_packets =
      error == EMSGSIZE || error == EINVAL || error == EACCES || error == EPERM;
  return is_the_packets && count >= kHopeless;
}

}  // namespace viaduct::load
