#include "run/simulator/machines.h"

namespace viaduct::run {

Machines& Machines::Alone() {
  static Machines alone;
  return alone;
}

}  // namespace viaduct::run
