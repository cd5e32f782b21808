#include "run/load/tally.h"

namespace viaduct::load {

void Tally::Record(const Header& header, int bytes, Instant received) {
  if (received_ == 0) first_ = received;
  switch (window_.Take(header.sequence)) {
    case SequenceWindow::Arrival::kDuplicate:
      ++duplicates_;
      return;
    case SequenceWindow::Arrival::kLate:
      ++reordered_;
      break;
    case SequenceWindow::Arrival::kNext:
      break;
  }
  ++received_;
  bytes_ += bytes;
  last_ = received;
  gaps_.Arrived(header.sequence, (header.sent - Instant()).ToSeconds());
  delay_.Record((received - header.sent).nanoseconds());
}

}  // namespace viaduct::load
