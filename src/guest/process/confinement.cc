#include "guest/process/confinement.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "sys/process/invoking_user.h"

namespace viaduct::guest {
namespace {

// Landlock's system calls and constants (linux/landlock.h), because a distribution's header is
// older than the kernels on which this program runs.
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr uint32_t kVersionOnly = 1;  // the flag LANDLOCK_CREATE_RULESET_VERSION
constexpr int kPathBeneath = 1;       // the rule type LANDLOCK_RULE_PATH_BENEATH

struct RulesetAttributes {
  uint64_t files;
  uint64_t network;
  uint64_t scoped;
};

struct [[gnu::packed]] PathBeneath {
  uint64_t allowed;
  int32_t parent;
};

// Landlock's rights: LANDLOCK_ACCESS_FS_*, LANDLOCK_ACCESS_NET_*, LANDLOCK_SCOPE_*.
constexpr uint64_t kWriteFile = 1 << 1;
// The rights to remove folders and files, and to make folders, files, devices, sockets and links.
constexpr uint64_t kRemoveAndMake = 0x1ff << 4;
constexpr uint64_t kRefer = 1 << 13;  // the right to rename or link into another folder
constexpr uint64_t kTruncate = 1 << 14;
constexpr uint64_t kTcp = 1 | 1 << 1;     // the rights to bind and to connect TCP sockets
constexpr uint64_t kScopes = 1 | 1 << 1;  // the scopes of abstract sockets and of signals

// Returns the version of Landlock that the kernel has; 0 if the kernel has no Landlock.
int LandlockVersion() {
  const long version = syscall(kCreateRuleset, nullptr, 0, kVersionOnly);
  return version < 0 ? 0 : static_cast<int>(version);
}

// Returns the rights that Landlock of this version can restrict; a kernel rejects rights of newer
// versions.
RulesetAttributes Handled(int version) {
  return {
      kWriteFile | kRemoveAndMake | (version >= 2 ? kRefer : 0) | (version >= 3 ? kTruncate : 0),
      version >= 4 ? kTcp : 0, version >= 6 ? kScopes : 0};
}

void Allow(const UniqueFd& rules, const std::filesystem::path& path) {
  const UniqueFd place(SystemCall("open " + path.string(), open(path.c_str(), O_PATH | O_CLOEXEC)));
  // Grants no right to truncate, because the simulator has the guest's memory mapped.
  const bool folder = std::filesystem::is_directory(path);
  const PathBeneath rule{folder ? kWriteFile | kRemoveAndMake : kWriteFile, place.get()};
  SystemCall("landlock_add_rule " + path.string(),
             syscall(kAddRule, rules.get(), kPathBeneath, &rule, 0));
}

// The system calls that the seccomp filter restricts because Landlock does not restrict them:
// Landlock restricts only changes of a file's content and name and, from Linux 6.2 on, of its
// length. The numbers are those of x86-64, the only architecture of User Mode Linux.
enum SystemCallNumber : uint32_t {
  kIoctl = 16,
  kTruncateFile = 76,
  kFtruncate = 77,
  kChmod = 90,
  kFchmod = 91,
  kChown = 92,
  kFchown = 93,
  kLchown = 94,
  kUtime = 132,
  kSetxattr = 188,
  kLsetxattr = 189,
  kFsetxattr = 190,
  kRemovexattr = 197,
  kLremovexattr = 198,
  kFremovexattr = 199,
  kUtimes = 235,
  kFchownat = 260,
  kFutimesat = 261,
  kFchmodat = 268,
  kUtimensat = 280,
  kIoUringSetup = 425,  // io_uring can make some of these calls
  kFchmodat2 = 452,
  kSetxattrat = 463,
  kRemovexattrat = 466,
  kFileSetattr = 469,
};
constexpr uint32_t kRefused[] = {
    kTruncateFile, kFtruncate,    kChmod,      kChown,         kFchown,      kLchown,
    kUtime,        kSetxattr,     kLsetxattr,  kFsetxattr,     kRemovexattr, kUtimes,
    kLremovexattr, kFremovexattr, kFchownat,   kFutimesat,     kFchmodat,    kUtimensat,
    kIoUringSetup, kFchmodat2,    kSetxattrat, kRemovexattrat, kFileSetattr,
};
// The lowest number of a system call of the x32 ABI, which is another ABI for the same calls.
constexpr uint32_t kFirstX32 = 0x40000000;
// The mode that User Mode Linux sets on the file of its memory. User Mode Linux exits if setting
// the mode fails.
constexpr uint32_t kMemoryMode = 0777;
// The ioctl requests FS_IOC_SETFLAGS and FS_IOC_FSSETXATTR, which work on a file that is not open
// for writing.
constexpr uint32_t kSetFlags = 0x40086602, kSetAttributes = 0x401c5820;

// The offsets in struct seccomp_data of the words of a system call (linux/filter.h has the
// instruction that loads a word).
constexpr uint32_t kArchitecture = offsetof(seccomp_data, arch);
constexpr uint32_t kNumber = offsetof(seccomp_data, nr);
constexpr uint32_t kSecondArgument = offsetof(seccomp_data, args) + sizeof(uint64_t);

sock_filter LoadWord(uint32_t word) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, word); }
sock_filter Return(uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }
// Returns an instruction that skips `skip` instructions if the loaded word is `value`, otherwise
// `skip_else` instructions.
sock_filter Equal(uint32_t value, uint8_t skip, uint8_t skip_else) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, skip, skip_else);
}

// Returns the filter's action that skips the system call and makes it return `error`; if `error` is
// 0, the call returns success.
constexpr uint32_t Answer(uint32_t error) { return SECCOMP_RET_ERRNO | error; }

std::vector<sock_filter> FilterProgram() {
  std::vector<sock_filter> program{
      LoadWord(kArchitecture),
      Equal(AUDIT_ARCH_X86_64, 1, 0),
      Return(Answer(ENOSYS)),
      LoadWord(kNumber),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kFirstX32, 0, 1),
      Return(Answer(ENOSYS)),
  };
  for (const uint32_t number : kRefused) {
    program.insert(program.end(), {Equal(number, 0, 1), Return(Answer(EPERM))});
  }
  program.insert(program.end(),
                 {Equal(kFchmod, 0, 4), LoadWord(kSecondArgument), Equal(kMemoryMode, 0, 1),
                  Return(Answer(0)), Return(Answer(EPERM))});
  program.insert(program.end(),
                 {Equal(kIoctl, 0, 4), LoadWord(kSecondArgument), Equal(kSetFlags, 1, 0),
                  Equal(kSetAttributes, 0, 1), Return(Answer(EPERM)), Return(SECCOMP_RET_ALLOW)});
  return program;
}

// Installs the seccomp filter. Without the flag SECCOMP_FILTER_FLAG_SPEC_ALLOW, older kernels add a
// mitigation of speculative execution, which makes the guest slower.
void InstallFilter() {
  std::vector<sock_filter> instructions = FilterProgram();
  const sock_fprog program{static_cast<unsigned short>(instructions.size()), instructions.data()};
  SystemCall("seccomp", static_cast<int>(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                                 SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program)));
}

// Returns whether the kernel has seccomp filters: only a kernel with filters reads the address of
// the filter program, which fails with EFAULT for nullptr.
bool HasFilters() {
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr) != 0 && errno == EFAULT;
}

}  // namespace

Confinement::Confinement(std::span<const std::filesystem::path> writable) {
  const int version = LandlockVersion();
  if (version == 0) return;
  const RulesetAttributes handled = Handled(version);
  rules_.reset(SystemCall("landlock_create_ruleset",
                          static_cast<int>(syscall(kCreateRuleset, &handled, sizeof handled, 0))));
  for (const auto& path : writable) Allow(rules_, path);
}

void Confinement::Enter() const {
  sys::ForbidNewPrivileges();
  if (rules_) {
    SystemCall("landlock_restrict_self", static_cast<int>(syscall(kRestrictSelf, rules_.get(), 0)));
  }
  if (HasFilters()) InstallFilter();
}

std::string MissingOfLandlock(int version) {
  if (version < 1) return "this kernel does not support Landlock, which needs Linux 5.13 or later";
  if (version < 4) {
    return "guests can open TCP connections from this machine, and send signals to other processes "
           "of their user: Landlock prevents this from Linux 6.7 and 6.12 on, respectively";
  }
  if (version < 6) {
    return "guests can send signals to other processes of their user: Landlock prevents this from "
           "Linux 6.12 on";
  }
  return "";
}

std::string ConfinementUnavailable() {
  const int version = LandlockVersion();
  if (version == 0 && errno == EOPNOTSUPP)
    return "Landlock is not enabled in this kernel (boot parameter lsm=)";
  if (version > 0 && !HasFilters()) return "this kernel does not support seccomp filters";
  return MissingOfLandlock(version);
}

}  // namespace viaduct::guest
