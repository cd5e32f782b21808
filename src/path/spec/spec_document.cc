// Generates docs/path-spec.md from the table of the SPEC's keys.
#include <fmt/format.h>

#include "base/text/markdown.h"
#include "path/spec/spec.h"

namespace viaduct::path {
namespace {

constexpr const char* kHead = R"(# The SPEC of a path

Printed by `viaduct docs path-spec` from the table the parser uses (`src/path/spec/spec.cc`); do not edit
it by hand.

A SPEC describes what one direction of a link does to frames. It is one string everywhere: on the command
line (`viaduct path --up SPEC`, `viaduct shell --down SPEC`), in scenario files (`spec:`, `up:`,
`down:`), in C++, in live changes and schedules. Effects that are not named are absent; the empty SPEC
neither changes nor delays frames.

```
delay=20ms jitter=2ms dist=normal loss=1% dup=0.1% reorder=0.5% ber=1e-9 rate=10Mbit queue=100p
```

- `KEY=VALUE` words in any order, each key once, separated by white space; values contain no white space.
- Durations: `10ns`, `3.5us`, `20ms`, `1s`, at most `24h`. Rates: `64kbit`, `1.5Mbit`, `10Gbit`; decimal.
  Bytes: `1500B`, `64kB` (1000), `64KiB` (1024). P is a probability: `1%`, `0.01`, `1e-9`.
- A value may have parameters after a colon: `loss=1%:corr=25%`, `aqm=codel:target=5ms,ecn`.
- A live change or a line of a schedule names the keys that are to change; `KEY=none` removes a key,
  and also the keys that depend on it (`rate=none` also removes `queue`, `aqm` and so on). Packets in flight
  keep their delivery times, and queued packets leave at the new rate, so no change loses a packet.
- Impossible values (`loss=120%`, `rate=0bit`, `jitter` above `delay` without `order=free`, a trace
  whose times are not in ascending order) are errors, and a running path is not changed.

)";

constexpr const char* kAfterSchema = R"(
## What happens to a frame, in this order

0. **nat** of the direction in which the frame is sent: the source port is replaced.
1. **loss**, then **ber** and **corrupt**, then **dup**: a copy follows its original and has the same
   flipped bits.
2. **rate**, **queue**, **aqm**: the frame waits for the link and is sent bit by bit. The frame being sent is
   not in the queue: `queue=10p` lets ten frames wait. Back-to-back frames take exactly the time of their bits:
   rounding to nanoseconds is carried over, not lost.
3. **delay**, **jitter**, **reorder**: counted from the time at which the last bit has left the link.
4. **slot**: the frame waits for its slot. **fcs**: a frame with flipped bits is dropped now. **nat** of the
   other direction: the destination port becomes the port behind the NAT.

Each stage has a separate stream of random numbers, derived from the run's seed and the path's name: changing
one stage does not affect the others. With the same seed, the same frames at the same times have the
same outcomes, byte for byte, in real time and in virtual time, and even if the path processes frames late.

Every frame has exactly one outcome, which is counted: `delivered`, `lost` (by the loss models), `bad-fcs` (flipped bits, with
`fcs=drop`), `queue-full`, `aqm` (dropped by active queue management), `no-memory` (the memory limit was reached),
`disk-behind` (the disk to which frames are spilled was too slow or full), `no-binding` (the NAT had no binding for the port, or
no free port). `--trace FILE.jsonl` or `FILE.pcapng` records the outcome of each frame.

## A limit on consecutive losses

`loss=P:run=N` loses what `loss=P` loses with the same seed, except that the frame after N consecutive losses
passes. P is therefore not the share of lost frames, which in the long run is

```
P (1 - a^N) / (1 - a^(N+1))      a = corr + (1 - corr) P
```

`loss=10%:run=3` loses 9.991%, `loss=50%:run=1` 33.3%, `loss=100%:run=4` 80% (N of N + 1). The limit counts
only the losses of its model: in `5%:run=1+1%` the other model may lose the frame that passes here.

## Files

All files are text files; `#` starts a comment. Errors name the file and the line.

- `loss=trace:FILE`: `0` (passes) or `1` (is lost) for each frame; white space is ignored.
- `delay=trace:FILE`: a duration per line, one for each frame; or `TIME DELAY` in each line.
- `rate=trace:FILE`: `TIME RATE` in each line; the rate `0` stops the link.
- `TIME` is in seconds (`2.5`) or has a unit (`2500ms`); times ascend from 0, the start of the path or of the change.
  `TIME repeat` as the last line starts the file again; without this line the last value stays.
- `rate=mahimahi:FILE`: in each line a time in milliseconds at which 1500 bytes may be sent; the times must not decrease.
  At the last time the trace starts again.
- `dist=FILE`: whole numbers, each 1/8192 of the jitter, as in iproute2's tables
  (`/usr/lib/*/tc/normal.dist`); all are equally likely.

What differs from Linux's netem, on purpose: [limitations](limitations.md#the-path-emulator).
)";

}  // namespace

std::string DocumentSpec() {
  std::string text = kHead;
  text += "| key | value | meaning | example |\n|---|---|---|---|\n";
  for (const SpecKey& key : SpecKeys()) {
    text += fmt::format("| `{}` | {} | {} | `{}={}` |\n", key.name, TableCell(key.values),
                        TableCell(key.meaning), key.name, key.example);
  }
  return text + kAfterSchema;
}

}  // namespace viaduct::path
