#include "path/queue/fq_codel_queue.h"

#include <algorithm>

#include "path/queue/flow_hash.h"

namespace viaduct::path {
namespace {

constexpr int kDropBatch = 64;

}  // namespace

class FqCodelQueue::FlowQueue {
 public:
  FlowQueue(FqCodelQueue& all, Flow& flow) : all_(all), flow_(flow) {}
  std::optional<Packet> TakeFront() { return all_.Take(flow_); }
  uint64_t bytes() const { return flow_.list.bytes; }
  bool Empty() const { return flow_.list.packets == 0; }

 private:
  FqCodelQueue& all_;
  Flow& flow_;
};

std::span<const Parameter<FqCodelParameters>> FqCodelParameters::Table() {
  using P = FqCodelParameters;
  using C = CodelParameters;
  static constexpr Parameter<P> kTable[] = {TimeParameter<&P::codel, &C::target>("target"),
                                            TimeParameter<&P::codel, &C::interval>("interval"),
                                            IntegerParameter<1, 65536, &P::flows>("flows"),
                                            IntegerParameter<1, 1 << 20, &P::quantum>("quantum"),
                                            SwitchParameter<&P::codel, &C::ecn>("ecn")};
  return kTable;
}

FqCodelQueue::FqCodelQueue(const FqCodelParameters& parameters, const QueueSetup& setup)
    : limit_(setup),
      parameters_(parameters),
      store_(setup.store),
      seed_(RandomStream(setup.random).Next()),
      flows_(parameters.flows, Flow(setup.max_packet)) {}

void FqCodelQueue::Append(Round& round, uint32_t flow) {
  flows_[flow].next = kNone;
  if (round.last == kNone) {
    round.first = flow;
  } else {
    flows_[round.last].next = flow;
  }
  round.last = flow;
}

uint32_t FqCodelQueue::RemoveFirst(Round& round) {
  const uint32_t flow = round.first;
  round.first = flows_[flow].next;
  if (round.first == kNone) round.last = kNone;
  return flow;
}

std::optional<Packet> FqCodelQueue::Take(Flow& flow) {
  const auto packet = lists_.TakeFront(flow.list);
  if (!packet) return std::nullopt;
  --packets_;
  bytes_ -= packet->bytes;
  return packet;
}

void FqCodelQueue::Enqueue(Packet packet, Instant now, DropSink& drops) {
  packet.ready = now;
  const bool over = !limit_.Fits(packets_, bytes_, packet);
  const uint64_t hash = HashFlow(store_.Bytes(packet.frame), seed_);
  // The upper half of hash x flows: every flow number, without a division.
  const auto index =
      static_cast<uint32_t>(static_cast<unsigned __int128>(hash) * flows_.size() >> 64);
  Flow& flow = flows_[index];
  lists_.Append(flow.list, packet);
  ++packets_;
  bytes_ += packet.bytes;
  if (!flow.scheduled) {
    flow.scheduled = true;
    flow.credits = parameters_.quantum;
    Append(new_, index);
  }
  if (over) DropFromFattest(now, drops);
}

uint32_t FqCodelQueue::FattestFlow() const {
  const auto fattest =
      std::max_element(flows_.begin(), flows_.end(),
                       [](const Flow& a, const Flow& b) { return a.list.bytes < b.list.bytes; });
  return static_cast<uint32_t>(fattest - flows_.begin());
}

void FqCodelQueue::DropFromFattest(Instant now, DropSink& drops) {
  Flow& flow = flows_[FattestFlow()];
  const uint64_t enough = flow.list.bytes / 2;
  uint64_t dropped = 0;
  for (int i = 0; i < kDropBatch; ++i) {
    const auto packet = Take(flow);
    if (!packet) return;
    drops.Drop(*packet, Fate::kQueueFull, now);
    dropped += packet->bytes;
    if (dropped >= enough) return;
  }
}

// Section 4.2.
std::optional<Packet> FqCodelQueue::Dequeue(Instant now, DropSink& drops) {
  while (new_.first != kNone || old_.first != kNone) {
    Round& round = new_.first != kNone ? new_ : old_;
    Flow& flow = flows_[round.first];
    if (flow.credits <= 0) {
      flow.credits += parameters_.quantum;
      Append(old_, RemoveFirst(round));
      continue;
    }
    FlowQueue queue(*this, flow);
    const auto packet = flow.codel.Dequeue(queue, now, parameters_.codel, store_, drops);
    if (packet) {
      flow.credits -= packet->bytes;
      return packet;
    }
    const bool was_new = &round == &new_;
    const uint32_t index = RemoveFirst(round);
    // An emptied new queue goes through the old ones once before it can be new again: otherwise it
    // could starve them.
    if (was_new && old_.first != kNone) {
      Append(old_, index);
    } else {
      flow.scheduled = false;
    }
  }
  return std::nullopt;
}

}  // namespace viaduct::path
