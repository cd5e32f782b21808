#include "path/packet/fate.h"

namespace viaduct::path {

std::string_view FateName(Fate fate) {
  switch (fate) {
    case Fate::kDelivered:
      return "delivered";
    case Fate::kLost:
      return "lost";
    case Fate::kBadFcs:
      return "bad-fcs";
    case Fate::kQueueFull:
      return "queue-full";
    case Fate::kAqm:
      return "aqm";
    case Fate::kNoMemory:
      return "no-memory";
    case Fate::kDiskBehind:
      return "disk-behind";
    case Fate::kNoBinding:
      return "no-binding";
    case Fate::kRefused:
      return "refused";
    case Fate::kCount:
      break;
  }
  return "unknown";
}

}  // namespace viaduct::path
