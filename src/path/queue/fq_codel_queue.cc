#include "path/queue/fq_codel_queue.h"

namespace viaduct::path {
namespace {

constexpr int kDropBatch = 64;

}  // namespace

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
      parameters_(parameters.codel),
      store_(setup.store),
      flows_(parameters.flows, parameters.quantum, setup.random),
      codels_(parameters.flows, Codel(setup.max_packet)) {}

void FqCodelQueue::Enqueue(Packet packet, Instant now, DropSink& drops) {
  packet.ready = now;
  const bool over = !limit_.Fits(packets(), bytes(), packet);
  flows_.Append(flows_.FlowOf(store_.Bytes(packet.frame)), packet);
  if (over) DropFromFattest(now, drops);
}

void FqCodelQueue::DropFromFattest(Instant now, DropSink& drops) {
  const uint32_t flow = flows_.Fattest();
  const uint64_t enough = flows_.bytes(flow) / 2;
  uint64_t dropped = 0;
  for (int i = 0; i < kDropBatch; ++i) {
    const auto packet = flows_.TakeFront(flow);
    if (!packet) return;
    drops.Drop(*packet, Fate::kQueueFull, now);
    dropped += packet->bytes;
    if (dropped >= enough) return;
  }
}

std::optional<Packet> FqCodelQueue::Dequeue(Instant now, DropSink& drops) {
  while (const auto flow = flows_.Turn()) {
    FlowQueue queue(flows_, *flow);
    const auto packet = codels_[*flow].Dequeue(queue, now, parameters_, store_, drops);
    if (packet) {
      flows_.Sent(packet->bytes);
      return packet;
    }
    flows_.NothingSent();
  }
  return std::nullopt;
}

}  // namespace viaduct::path
