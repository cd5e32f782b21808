// Generates docs/scenario.md from the table of keys.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/text/markdown.h"
#include "scenario/keys.h"

namespace viaduct::scenario {
namespace {

constexpr const char* kHead = R"(# The scenario file

Printed by `viaduct docs scenario` from the table the parser uses (`src/scenario/keys.cc`); do not
edit it by hand.

A scenario is one YAML file. Keys that are not listed here are errors. `viaduct run FILE.yaml --print`
shows the file as it was parsed, with every default filled in, and `--set flows.0.rate=2Mbit`
overrides a value from the command line. Error messages name the file and line.

```yaml
nodes: 5
links:
  - line: all
    spec: delay=5ms rate=100Mbit
routing: {protocol: ns3::olsr::RoutingProtocol}
flows:
  - {type: udp, from: n0, to: n4, size: 160, rate: 1Mbit}
  - {type: ping, from: n0, to: n4}
```

- Times: `10ns`, `3.5us`, `20ms`, `1s`, `2min`, `1h`. Times of flows, programs and events count from
  the moment routes have converged; there `40%` means this part of the run's `duration`.
- Rates: `64kbit`, `1.5Mbit`, `10Gbit`; decimal.
- SPEC: `delay=20ms jitter=2ms dist=normal loss=1% dup=0.1% reorder=0.5% ber=1e-9 rate=10Mbit queue=100p`; all keys: [path-spec.md](path-spec.md).
- Interfaces are called `eth0`, `eth1`, ... in the order of the links.

)";

const std::string kUsesHead = R"(
## What each command does with the keys

The columns are `viaduct run` in each mode; `viaduct up` and `viaduct hub` in the modes that these commands support; and `viaduct run` on several machines.
`viaduct sweep` executes `viaduct run`. All commands honour the keys that are not in this table. *refused*: an error that names
the key. *not run*: the command reports that it does not do this. *-*: the key has no effect and causes no error, so one file can be used in all modes.

)";

std::string Code(const std::string& text) {
  return text.empty() ? "" : "`" + TableCell(text) + "`";
}

std::string TypeColumn(const Key& key) {
  if (key.type == Type::kSpec) return "a link SPEC";
  if (key.type == Type::kDuration) return "a duration";
  if (key.type == Type::kRate) return "a rate";
  if (key.type == Type::kPrefix) return "a prefix, or none";
  return DescribeType(key);
}

const char* UseCell(Use use) {
  switch (use) {
    case Use::kHonoured:
      return "yes";
    case Use::kRefused:
      return "refused";
    case Use::kNotRun:
      return "not run";
    case Use::kNoMeaning:
      break;
  }
  return "-";
}

bool IsUsedByAll(const Key& key) {
  return std::string_view(key.uses).find_first_not_of(static_cast<char>(Use::kHonoured)) ==
         std::string_view::npos;
}

// Returns a table of the keys that not all commands honour, with the treatment of each key by each
// command.
std::string DocumentUses() {
  std::string head = "| key |", rule = "|---|";
  for (const char* command : kCommands) {
    head += fmt::format(" {} |", command);
    rule += "---|";
  }
  std::string text = kUsesHead + head + "\n" + rule + "\n";
  for (const Key& key : Keys()) {
    if (IsUsedByAll(key)) continue;
    text += fmt::format("| `{}` |", key.path);
    for (size_t i = 0; i < std::size(kCommands); ++i) {
      text += fmt::format(" {} |", UseCell(key.UseBy(i)));
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string DocumentKeys() {
  std::string text = kHead;
  text += "| key | value | default | meaning | example |\n|---|---|---|---|---|\n";
  for (const Key& key : Keys()) {
    const bool alias = key.type == Type::kAlias;
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", key.path, TableCell(TypeColumn(key)),
                        alias ? "" : Code(key.Default()), TableCell(key.help), Code(key.example));
  }
  return text + DocumentUses();
}

}  // namespace viaduct::scenario
