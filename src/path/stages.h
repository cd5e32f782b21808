// What a Pipeline is inside: its stages in their order and what lies between them.
#pragma once

#include <memory>
#include <optional>

#include "path/model/bit_errors.h"
#include "path/model/delay_stage.h"
#include "path/model/loss_model.h"
#include "path/packet/memory_fifo.h"
#include "path/pipeline.h"
#include "path/queue/bottleneck.h"

namespace viaduct::path {

class Pipeline::Stages final : public DropSink {
 public:
  Stages(const Spec& spec, FrameStore& store, PipelineOptions options);
  ~Stages() override = default;

  void Push(FrameHandle frame, uint32_t bytes, Instant now);
  void Refuse(uint32_t bytes, Fate cause, Instant now);
  Instant NextEvent() const;
  size_t Pop(Instant now, std::span<Departure> out);
  bool Stalled() const { return delay_.Stalled() || (bottleneck_ && bottleneck_->Stalled()); }
  void Change(const Spec& spec, Instant now);

  const Spec& spec() const { return spec_; }
  const Counters& counters() const { return counters_; }
  uint64_t waiting() const;
  uint64_t waiting_bytes() const;
  void SetObserver(FateObserver* observer) { observer_ = observer; }

  void Drop(const Packet& packet, Fate cause, Instant at) override;

 private:
  // What a SPEC makes of the stages that read files or can be refused. Only what differs from the
  // SPEC before is made; the other stages go on as they are.
  struct Parts {
    std::optional<LossModel> loss;
    std::optional<DelayModel> delay;
    std::unique_ptr<RateServer> link;
    std::unique_ptr<QueueDiscipline> queue;
  };
  Parts MakeParts(const Spec& spec, const Spec* before) const;
  void Install(const Spec& spec, const Spec* before, Parts parts, Instant now);
  void InstallRate(const Spec& spec, Parts& parts, Instant now);
  LossModel MakeLoss(const Loss& loss) const;
  DelayModel MakeDelay(const Spec& spec) const;

  void Meet(const Packet& packet, Fate fate, Instant at);
  void HitBits(Packet& packet);
  void Duplicate(const Packet& packet, Instant now);
  void Enter(const Packet& packet, Instant now);
  void Delay(const Packet& packet, Instant now);
  void Transmit(Instant now);
  bool TransmitOne(Instant now);
  void Settle(Instant now);

  Spec spec_;
  FrameStore& store_;
  PipelineOptions options_;
  Counters counters_;
  FateObserver* observer_ = nullptr;
  RandomStream loss_random_, bits_random_, duplicate_random_;
  std::optional<LossModel> loss_;
  std::optional<BitErrors> bit_errors_;
  std::optional<Decision> duplicate_;
  std::unique_ptr<Bottleneck> bottleneck_;
  bool draining_ = false;  // the bottleneck is no longer part of the path, but not yet empty
  DelayStage delay_;
  MemoryFifo settled_;  // delivered, not yet fetched by Pop()
};

}  // namespace viaduct::path
