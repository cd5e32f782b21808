// The link SPEC: one string with the same grammar everywhere (command line, scenario files, C++,
// live changes).
//
//   delay=20ms jitter=2ms dist=normal loss=1% dup=0.1% reorder=0.5% ber=1e-9 rate=10Mbit queue=100p
//
// The keys are given in any order, each at most once, separated by white space; values contain no
// white space. The empty string is a plain wire. All keys with their values: docs/path-spec.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "path/model/bit_errors.h"
#include "path/model/corruption.h"
#include "path/model/delay_spec.h"
#include "path/model/loss.h"
#include "path/model/nat_spec.h"
#include "path/model/slot_spec.h"
#include "path/queue/queue_spec.h"

namespace viaduct::path {

// The treatment of frames with flipped bits at the far end.
enum class FrameCheck { kIgnore, kDrop };

// The effects of a link on the frames of one direction: a part for each stage of a Pipeline, in the
// order of the stages. A stage whose part is absent (or empty) does nothing. Each part is compared
// as one value, so that a live change rebuilds exactly the stages that it affects.
struct Spec {
  std::optional<NatSpec> nat;
  std::optional<LossSpec> loss;
  std::optional<BitErrorSpec> errors;
  std::optional<Corruption> corruption;
  std::optional<Chance> duplication;
  LinkSpec link;
  QueueSpec queue;  // queue in front of the link
  DelaySpec delay;
  std::optional<Reorder> reorder;
  std::optional<SlotSpec> slot;
  std::optional<FrameCheck> frame_check;

  bool IsPlainWire() const { return *this == Spec(); }
  friend bool operator==(const Spec&, const Spec&) = default;
};

// Parses a SPEC. Throws UsageError that names the key, the error and the accepted values.
Spec ParseSpec(std::string_view text);
// Returns `base` with the keys of `text` replaced; "KEY=none" removes a key. Used for live changes
// and schedules.
Spec ChangeSpec(const Spec& base, std::string_view text);
// Returns a SPEC as text: ParseSpec(FormatSpec(s)) == s.
std::string FormatSpec(const Spec& spec);
// Checks the consistency of the keys as ParseSpec does (dist without jitter, jitter above
// delay...), for a Spec built in C++. Throws UsageError.
void CheckSpec(const Spec& spec);

// Returns the first word of the SPEC that is not one of the basic keys; empty if there is none. The
// basic keys: a plain duration as delay and jitter, a named distribution, independent loss,
// duplication and reordering, bit errors after the header, a constant rate, a queue, an aqm without
// parameters. Used for backends other than the path emulator.
std::string FirstBeyondBasics(const Spec& spec);

// One row of the SPEC's reference (docs/path-spec.md).
struct SpecKey {
  std::string_view name, values, meaning, example;
};
std::vector<SpecKey> SpecKeys();
// Generates docs/path-spec.md.
std::string DocumentSpec();

}  // namespace viaduct::path
