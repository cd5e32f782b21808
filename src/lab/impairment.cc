#include "lab/impairment.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/wire/ethernet.h"
#include "path/model/distribution.h"
#include "path/queue/fifo_queue.h"

namespace viaduct::lab {
namespace {

constexpr uint16_t kNetemMajor = 1, kBucketMajor = 2, kQueueMajor = 3;

// Returns the parts of a SPEC that netem implements.
path::Spec NetemPart(const path::Spec& spec) {
  path::Spec part = spec;
  part.link = {};
  part.queue = {};
  part.errors.reset();
  return part;
}

void CheckMeaning(const path::Spec& spec, const std::string& where) {
  if (spec.errors) {
    throw EnvironmentError(where +
                           ": ber= cannot be emulated by the kernel's qdiscs (netem corrupts " +
                           "frames of any length, not bits); remove ber=");
  }
  if (const std::string word = path::FirstBeyondBasics(spec); !word.empty()) {
    throw EnvironmentError(where + ": " + word +
                           " cannot be emulated by the kernel's qdiscs; use the path " +
                           "engine (emulator: engine)");
  }
  if (spec.queue.aqm && spec.queue.limit) {
    throw UsageError(where + ": specify either queue= or aqm=, not both");
  }
  if (spec.queue.aqm == path::Aqm("red")) {
    throw EnvironmentError(
        where + ": aqm=red needs thresholds, but the kernel's qdiscs are used " +
        "without parameters; choose codel, pie or fq_codel, or the path engine " +
        "(emulator: engine)");
  }
}

sys::Netem ToNetem(const path::Spec& spec) {
  sys::Netem netem;
  netem.delay = spec.delay.base.value_or(Duration());
  netem.jitter = spec.delay.jitter.value_or(path::Jitter()).amount;
  netem.loss = spec.loss ? std::get<path::RandomLoss>(spec.loss->front()).chance.probability : 0;
  netem.duplicate = spec.duplication ? spec.duplication->probability : 0;
  netem.reorder = spec.reorder ? spec.reorder->chance.probability : 0;
  const std::string distribution = spec.delay.distribution.value_or(path::kDefaultDistribution);
  if (distribution != path::kDefaultDistribution)
    netem.distribution = sys::LoadDistribution(distribution);
  return netem;
}

path::QueueSize QueueLimit(const path::Spec& spec) {
  return spec.queue.limit.value_or(path::FifoQueue::kDefaultLimit);
}

// Returns the bytes that may wait before TBF. A queue in packets is enforced by a pfifo; in that
// case TBF's own limit is only set because the kernel requires a limit.
int64_t QueueBytes(const path::Spec& spec, int mtu) {
  const int64_t frame = mtu + static_cast<int64_t>(wire::EthernetHeader::kSize);
  const path::QueueSize queue = QueueLimit(spec);
  switch (queue.unit) {
    case path::QueueSize::Unit::kPackets:
      return queue.amount * frame;
    case path::QueueSize::Unit::kBytes:
      return queue.amount;
    case path::QueueSize::Unit::kTime:
      break;
  }
  // Multiplies and divides in two steps, because rate times nanoseconds overflows 64 bits at 10
  // Gbit/s and one second.
  const int64_t microseconds = std::max<int64_t>(queue.amount / 1000, 1);
  return std::max(*spec.link.rate / 8 * microseconds / 1000000, frame);
}

// Checks whether the kernel has a qdisc; throws EnvironmentError otherwise: "link n0-n1: WHAT needs
// the KIND qdisc, which this kernel lacks; ...".
class Requirements {
 public:
  void Need(const std::string& kind, const std::string& where, const path::Spec& what) {
    auto found = known_.find(kind);
    if (found == known_.end()) found = known_.emplace(kind, sys::HasQdisc(kind)).first;
    if (found->second) return;
    throw EnvironmentError(
        where + ": " + path::FormatSpec(what) + " needs the " + kind +
        " qdisc, which this kernel lacks; use the path engine (emulator: engine), " +
        "or a kernel with the module sch_" + kind + " (`viaduct doctor` lists the available ones)");
  }

 private:
  std::map<std::string, bool> known_;
};

void CheckSpec(const path::Spec& spec, const std::string& where, Requirements* requirements) {
  CheckMeaning(spec, where);
  const path::Spec netem = NetemPart(spec);
  if (!netem.IsPlainWire()) requirements->Need("netem", where, netem);
  if (spec.link.rate) {
    path::Spec rate;
    rate.link.rate = spec.link.rate;
    requirements->Need("tbf", where, rate);
  }
  if (spec.queue.aqm) {
    path::Spec aqm;
    aqm.queue.aqm = spec.queue.aqm;
    requirements->Need(spec.queue.aqm->name, where, aqm);
  }
}

}  // namespace

Impairment Impairment::FromSpec(const path::Spec& spec, int mtu, const std::string& where) {
  CheckMeaning(spec, where);
  Impairment impairment;
  if (!NetemPart(spec).IsPlainWire()) impairment.netem = ToNetem(spec);
  if (!spec.link.rate) return impairment;
  impairment.token_bucket = sys::TokenBucket{
      *spec.link.rate, sys::SensibleBurst(*spec.link.rate, mtu), QueueBytes(spec, mtu)};
  const path::QueueSize limit = QueueLimit(spec);
  if (spec.queue.aqm) {
    impairment.aqm = spec.queue.aqm->name;
  } else if (limit.unit == path::QueueSize::Unit::kPackets) {
    impairment.queue_packets = static_cast<uint32_t>(limit.amount);
  }
  return impairment;
}

void Impairment::Install(sys::Netlink& session, int ifindex) const {
  uint32_t parent = sys::kRootQdisc;
  if (netem) {
    sys::AddNetem(session, {ifindex, parent, sys::QdiscHandle(kNetemMajor)}, *netem);
    parent = sys::QdiscChild(kNetemMajor);
  }
  if (!token_bucket) return;
  sys::AddTokenBucket(session, {ifindex, parent, sys::QdiscHandle(kBucketMajor)}, *token_bucket);
  const sys::QdiscPlace below{ifindex, sys::QdiscChild(kBucketMajor),
                              sys::QdiscHandle(kQueueMajor)};
  if (aqm) {
    sys::AddDefaultQdisc(session, below, *aqm);
  } else if (queue_packets) {
    sys::AddPacketFifo(session, below, *queue_packets);
  }
}

void CheckImpairments(const Topology& topology) {
  Requirements requirements;
  for (const Link& link : topology.links) {
    if (link.emulator != Emulator::kKernel) continue;
    for (const path::Spec& spec : link.specs) CheckSpec(spec, "link " + link.name, &requirements);
  }
}

bool HasKernelImpairments(const Topology& topology) {
  return std::any_of(topology.links.begin(), topology.links.end(), [](const Link& link) {
    return link.emulator == Emulator::kKernel && !link.IsPlainWire();
  });
}

bool HasQdisc(const Topology& topology, const Endpoint& endpoint) {
  const auto is_it = [&](const Endpoint& end) {
    return end.node == endpoint.node && end.interface == endpoint.interface;
  };
  for (const Node& node : topology.nodes) {
    for (const Interface& interface : node.interfaces) {
      if (node.name == endpoint.node && interface.name == endpoint.interface &&
          interface.physical) {
        return true;
      }
    }
  }
  for (const Link& link : topology.links) {
    // Frames to a remote node can be captured only at this end, and captures do not see frames that
    // bypass the qdisc.
    if (HasRemote(topology, link) && std::ranges::any_of(link.endpoints, is_it)) return true;
    if (link.emulator != Emulator::kKernel) continue;
    for (size_t i = 0; i < link.specs.size(); ++i) {
      if (is_it(link.endpoints[i])) return !link.specs[i].IsPlainWire();
    }
  }
  return false;
}

}  // namespace viaduct::lab
