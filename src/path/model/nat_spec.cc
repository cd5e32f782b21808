#include "path/model/nat_spec.h"

#include "path/grammar/parameters.h"

namespace viaduct::path {
namespace {

constexpr std::string_view kPort = "port";

// Returns the row for the optional time `member` in the table of parameters.
template <auto member>
constexpr Parameter<NatSpec> Time(std::string_view name) {
  return {name,
          [](NatSpec& nat, std::string_view value) { nat.*member = ParsePositiveSpan(value); },
          [](const NatSpec& nat) {
            return nat.*member ? FormatDuration(*(nat.*member)) : std::string();
          }};
}

constexpr Parameter<NatSpec> kNat[] = {Time<&NatSpec::rebind>("rebind"),
                                       Time<&NatSpec::first>("first"),
                                       IntegerParameter<0, kMaxPackets, &NatSpec::id>("id")};

}  // namespace

void NatSpec::Check() const {
  if (first && !rebind)
    throw UsageError(
        "the parameter first has an effect only together with rebind; specify rebind, too");
}

NatSpec ParseNat(std::string_view value) {
  const auto [head, parameters] = SplitHead(value);
  if (head != kPort) {
    throw UsageError(
        fmt::format("\"{}\": unknown; expected port (a NAT that replaces source ports)", head));
  }
  NatSpec nat;
  ParseParameters(nat, parameters, kNat);
  return nat;
}

std::string FormatNat(const NatSpec& nat) { return JoinHead(kPort, FormatChanged(nat, kNat)); }

}  // namespace viaduct::path
