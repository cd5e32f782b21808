#include "sys/privilege/capabilities.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "base/error.h"

namespace viaduct::privilege {
namespace {

constexpr int kRootsHalf[] = {CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN,        CAP_SETUID,
                              CAP_SETGID,    CAP_KILL,    CAP_NET_BIND_SERVICE, CAP_DAC_OVERRIDE,
                              CAP_CHOWN,     CAP_FOWNER,  CAP_SYS_PTRACE,       CAP_SYS_RESOURCE};

bool MayStay(int capability) {
  return capability == CAP_AUDIT_WRITE ||
         std::ranges::find(kRootsHalf, capability) != std::ranges::end(kRootsHalf);
}

}  // namespace

std::span<const int> OfRootsHalf() { return kRootsHalf; }

void KeepCapabilities(std::span<const int> capabilities) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct had[2], keep[2] = {};
  SystemCall("capget", static_cast<int>(syscall(SYS_capget, &header, had)));
  for (const int capability : capabilities) {
    const uint32_t bit = had[CAP_TO_INDEX(capability)].permitted & CAP_TO_MASK(capability);
    keep[CAP_TO_INDEX(capability)].permitted |= bit;
    keep[CAP_TO_INDEX(capability)].effective |= bit;
  }
  SystemCall("capset", static_cast<int>(syscall(SYS_capset, &header, keep)));
}

void BoundCapabilities() {
  for (int capability = 0;; ++capability) {
    const int is_there = prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    if (is_there < 0) return;  // the kernel has no capabilities with this number or higher numbers
    // Continues if the capability is not in the bounding set. In a node of another lab the other
    // capabilities are already out of the set, and so is the capability to drop them.
    if (is_there == 0 || MayStay(capability)) continue;
    SystemCall("prctl PR_CAPBSET_DROP", prctl(PR_CAPBSET_DROP, capability, 0, 0, 0));
  }
}

}  // namespace viaduct::privilege
