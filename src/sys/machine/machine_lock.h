// Whose turn it is among the paths and shells of this machine.
#pragma once

#include "base/fd.h"

namespace viaduct::emulate {

// Paths share interfaces; shells share addresses and forwarding. Who takes of these or gives back,
// and who reads the records that say what others have, does it in its turn: until destruction. The
// lock (flock(2)) is the folder /run/viaduct/.turn, which nobody but root can open. A function that
// needs the turn is handed one, so that no process waits for itself.
class Turn {
 public:
  Turn();  // waits; throws SystemError, EnvironmentError

 private:
  UniqueFd folder_;
};

}  // namespace viaduct::emulate
