// Queueing disciplines: token bucket (rate), netem (impairments), fifo and AQM queues.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "sys/network/link.h"

namespace viaduct::sys {

// The handle of a new qdisc is MAJOR:0. Its parent is kRootQdisc, or QdiscChild(major) if the qdisc
// is below a classful qdisc.
inline constexpr uint32_t kRootQdisc = 0xFFFFFFFFU;  // TC_H_ROOT
inline constexpr uint32_t QdiscHandle(uint16_t major) { return uint32_t{major} << 16; }
inline constexpr uint32_t QdiscChild(uint16_t major) { return uint32_t{major} << 16 | 1; }

struct QdiscPlace {
  int ifindex = 0;
  uint32_t parent = kRootQdisc;
  uint32_t handle = QdiscHandle(1);
};

// The parameters of TBF (net/sched/sch_tbf.c): frames leave at `rate`; a frame above `burst` is
// segmented (GSO) or dropped.
struct TokenBucket {
  int64_t rate = 0;   // bit/s, counting Ethernet headers, but not FCS, preamble or gap
  int64_t burst = 0;  // bytes
  int64_t limit = 0;  // maximum number of waiting bytes
};

// Returns a burst that maintains the rate although timers fire late, without passing super-frames
// that would distort the rate: two frames, or the bytes that are sent at this rate in 250 us if
// that is more.
int64_t SensibleBurst(int64_t rate, int mtu);

// The parameters of netem (net/sched/sch_netem.c). Probabilities are between 0 and 1.
struct Netem {
  Duration delay, jitter;
  std::vector<int16_t> distribution;  // a table scaled to 8192 = 1 sigma; empty: uniform
  double loss = 0, duplicate = 0, corrupt = 0, reorder = 0;
  uint32_t limit = 100000;  // maximum number of frames that netem delays at a time
};

// Add a qdisc. Throw SystemError, or EnvironmentError if the kernel lacks the qdisc ("tbf",
// "netem"...).
void AddTokenBucket(Netlink& session, const QdiscPlace& place, const TokenBucket& parameters);
void AddNetem(Netlink& session, const QdiscPlace& place, const Netem& parameters);
void AddPacketFifo(Netlink& session, const QdiscPlace& place, uint32_t packets);
// Adds a qdisc by its kernel name with its default parameters (codel, pie, fq_codel; not red).
void AddDefaultQdisc(Netlink& session, const QdiscPlace& place, const std::string& kind);
// Restores the interface's default queue; a missing qdisc is not an error.
void RemoveRootQdisc(Netlink& session, int ifindex);
// Returns the kernel name of the root qdisc: "noqueue", "tbf"...
std::string RootQdisc(Netlink& session, int ifindex);
// A qdisc of an interface. Its parent is kRootQdisc, or a class of another qdisc, which has that
// qdisc's major number.
struct PresentQdisc {
  uint32_t parent = kRootQdisc;
  uint32_t handle = 0;
  std::string kind;
};
std::vector<PresentQdisc> Qdiscs(Netlink& session, int ifindex);
// Returns the qdisc that sends a frame at the time that its sender chose (SO_TXTIME): "fq" or
// "etf", at the root or below every queue of a multi-queue root; "" if there is no such qdisc, so
// that frames are sent as if they had no departure time (net/sched/sch_fq.c, sch_etf.c).
std::string QdiscOfDepartureTimes(const std::vector<PresentQdisc>& present);

// Whether incoming packets pass through classifiers: a qdisc "ingress" or "clsact" exists.
bool HasIngressQdisc(Netlink& session, int ifindex);

// Whether the kernel has (or can load) the qdisc; tries it on the loopback interface of a scratch
// namespace. Throws SystemError if that namespace cannot be made (no privilege).
bool HasQdisc(const std::string& kind);
// Tries the qdisc in the calling thread's namespace, on "lo". Returns 0 on success, ENOENT if the
// kernel lacks the qdisc, or EPERM; other errors are of a qdisc that exists but needs options.
int TryQdisc(const std::string& kind);

// Loads a delay distribution table of iproute2 ("normal", "pareto", "paretonormal"). Throws
// EnvironmentError if the table is not installed.
std::vector<int16_t> LoadDistribution(const std::string& name);
// Parses the text of a distribution table: integers separated by white space, '#' starts a comment.
// Throws UsageError for any other text.
std::vector<int16_t> ParseDistribution(std::string_view text);

}  // namespace viaduct::sys
