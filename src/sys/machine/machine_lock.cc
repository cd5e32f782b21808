#include "sys/machine/machine_lock.h"

#include <sys/file.h>

#include <cerrno>

#include "base/error.h"
#include "sys/trusted_folder.h"

namespace viaduct::sys {

MachineLock::MachineLock() : folder_(sys::MakeTrusted(sys::RunPlace({".turn", 0700}))) {
  int result = 0;
  do {
    result = flock(folder_.get(), LOCK_EX);
  } while (result != 0 && errno == EINTR);
  SystemCall("lock /run/viaduct/.turn", result);
}

}  // namespace viaduct::sys
