#include "path/queue/fq_pie_queue.h"

namespace viaduct::path {

std::span<const Parameter<FqPieParameters>> FqPieParameters::Table() {
  using P = FqPieParameters;
  using Pie = PieParameters;
  static constexpr Parameter<P> kTable[] = {TimeParameter<&P::pie, &Pie::target>("target"),
                                            TimeParameter<&P::pie, &Pie::update>("update"),
                                            TimeParameter<&P::pie, &Pie::max_burst>("burst"),
                                            GainParameter<&P::pie, &Pie::alpha>("alpha"),
                                            GainParameter<&P::pie, &Pie::beta>("beta"),
                                            IntegerParameter<1, 65536, &P::flows>("flows"),
                                            IntegerParameter<1, 1 << 20, &P::quantum>("quantum"),
                                            SwitchParameter<&P::pie, &Pie::ecn>("ecn")};
  return kTable;
}

FqPieQueue::FqPieQueue(const FqPieParameters& parameters, const QueueSetup& setup)
    : limit_(setup),
      store_(setup.store),
      control_(parameters.pie, setup),
      flows_(parameters.flows, parameters.quantum, setup.random),
      states_(parameters.flows, control_.Start()) {}

void FqPieQueue::Enqueue(Packet packet, Instant now, DropSink& drops) {
  const uint32_t flow = flows_.FlowOf(store_.Bytes(packet.frame));
  PieControl::State& state = states_[flow];
  control_.UpdateUntil(state, now);
  if (!limit_.Fits(packets(), bytes(), packet)) {
    state.accumulated = 0;
    return drops.Drop(packet, Fate::kQueueFull, now);
  }
  if (control_.Drops(state, packet, flows_.bytes(flow))) {
    return drops.Drop(packet, Fate::kAqm, now);
  }
  packet.ready = now;
  flows_.Append(flow, packet);
}

std::optional<Packet> FqPieQueue::Dequeue(Instant now, DropSink&) {
  while (const auto flow = flows_.Turn()) {
    PieControl::State& state = states_[*flow];
    control_.UpdateUntil(state, now);
    const auto packet = flows_.TakeFront(*flow);
    if (packet) {
      PieControl::Sent(state, *packet, flows_.packets(*flow) == 0, now);
      flows_.Sent(packet->bytes);
      return packet;
    }
    flows_.NothingSent();
  }
  return std::nullopt;
}

}  // namespace viaduct::path
