// Time stamps by network cards (kernel: Documentation/networking/timestamping.rst).
#pragma once

#include <memory>
#include <string>

#include "base/fd.h"
#include "sys/guardian.h"

namespace viaduct::sys {

// Has the card of an interface stamp all frames that it receives, and those sent frames that ask
// for it, by its own clock; as long as this lives. What the driver was set to before (by ptp4l, for
// instance) is restored by a process that this one forks, also when this one is killed. An
// interface that stamps all frames already is left as it is; of several of these on one interface
// the first one's end restores.
class HardwareStamps {
 public:
  // An interface of the calling thread's namespace. Needs CAP_NET_ADMIN unless it stamps already;
  // this process should have a single thread (sys/guardian.h). Throws EnvironmentError if it
  // cannot, which says why; then nothing is changed.
  explicit HardwareStamps(const std::string& interface);

  // Its clock, /dev/ptpN, which io::CardClock reads.
  const std::shared_ptr<UniqueFd>& clock() const { return clock_; }
  // "ptp0".
  const std::string& name() const { return name_; }
  // Whether it stamps sent frames, too.
  bool stamps_sent() const { return stamps_sent_; }

 private:
  std::shared_ptr<UniqueFd> clock_;
  std::string name_;
  bool stamps_sent_ = false;
  std::unique_ptr<Guardian> guardian_;
};

}  // namespace viaduct::sys
