// One direction of an emulated path: NAT, loss, bit errors, duplication, rate and queue, delay,
// reorder, slots, each optional, in this order. A pipeline does no I/O, reads no clock and is
// seeded: the same packets at the same instants have the same fates under the wall clock, ns-3's
// clock and a test's clock.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "path/model/bit_errors.h"
#include "path/model/delay_stage.h"
#include "path/model/loss.h"
#include "path/model/slots.h"
#include "path/packet/fate.h"
#include "path/packet/memory_fifo.h"
#include "path/packet/packet.h"
#include "path/packet/pipeline_options.h"
#include "path/queue/bottleneck.h"
#include "path/queue/shared_link.h"
#include "path/spec/spec.h"

namespace viaduct::path {

// A packet that has reached the far end.
struct Departure {
  FrameHandle frame = 0;  // the caller of Pop() owns the frame
  uint32_t bytes = 0;
  uint64_t number = 0;
  Instant due;  // the exact instant that the model determines; the caller is late by now - due
};

class Pipeline final : private DropSink, private SharedLink::User {
 public:
  // `store` must outlive the pipeline. Throws UsageError if the files that the SPEC names are
  // wrong.
  Pipeline(const Spec& spec, FrameStore& store, PipelineOptions options);
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // Sets the instant at which the path begins to exist, time 0 of its traces; without this call,
  // the path begins with the first packet. Stages that a later Change() adds begin with the change,
  // but losses over time (loss model fading) count from the path's start, so that both directions
  // have the same losses.
  void Begin(Instant now);
  // Takes the frame at its arrival instant. `now` must not decrease between calls of Push, Pop and
  // Change; internal events before `now` happen first, at their own instants.
  void Push(FrameHandle frame, uint32_t bytes, Instant now);
  // Counts (and reports to the observer) a packet that arrived but has no frame, because there was
  // no memory for it: its fate is `cause`, and it passes no stage.
  void Refuse(uint32_t bytes, Fate cause, Instant now);
  // Returns the instant at which Pop has something to do next; Never when no packet waits.
  Instant NextEvent() const;
  // Moves the packets that are due at `now` to `out`, earliest first; returns their number. Must be
  // called again when `out` is full.
  size_t Pop(Instant now, std::span<Departure> out);
  // Returns whether the next packet waits for a Fifo's disk: Pop must be called again when the disk
  // has answered.
  bool Stalled() const {
    return delay_.Stalled() || (bottleneck_ && bottleneck_->Stalled()) ||
           (shared_ != nullptr && shared_->Stalled());
  }

  // Changes the path's SPEC from `now` on. Packets in flight keep their delivery instants; packets
  // that wait in the queue leave at the new rate. Throws UsageError and changes nothing if the
  // files that the SPEC names are wrong.
  void Change(const Spec& spec, Instant now);

  const Spec& spec() const { return spec_; }
  const Counters& counters() const { return counters_; }
  uint64_t waiting() const;  // number of packets in the pipeline
  uint64_t waiting_bytes() const;
  void SetObserver(FateObserver* observer) { observer_ = observer; }  // not owned; nullptr: none

 private:
  // The stages of a SPEC that read files or whose construction can fail. Only stages whose part of
  // the SPEC differs from spec_ are built; the other stages continue unchanged.
  struct Parts {
    std::optional<LossModel> loss;
    std::optional<DelayModel> delay;
    std::unique_ptr<RateServer> link;
    std::unique_ptr<QueueDiscipline> queue;
    std::optional<Slots> slots;
  };
  void Drop(const Packet& packet, Fate cause, Instant at) override;
  void Left(const Packet& packet) override;
  void Dropped(const Packet& packet, Fate cause, Instant at) override;
  void JoinLink(const Spec& spec);
  void CheckNat(const Spec& spec) const;
  Parts MakeParts(const Spec& spec) const;
  void Install(const Spec& spec, Parts parts, Instant now);
  void InstallRate(const Spec& spec, Parts& parts, Instant now);
  void InstallSharedRate(const Spec& spec, Parts& parts, Instant now);

  bool HasBegun() const { return begun_ != Instant::Never(); }
  void Meet(const Packet& packet, Fate fate, Instant at);
  bool LeaveNat(const Packet& packet, Instant now);
  bool EnterNat(const Packet& packet);
  bool Translate(const Packet& packet, Instant at);
  void HitBits(Packet& packet);
  void FlipBits(Packet& packet, bool errors, bool corruption);
  void Duplicate(const Packet& packet, Instant now);
  void Enter(const Packet& packet, Instant now);
  void Delay(const Packet& packet, Instant now);
  void Transmit(Instant now);
  bool TransmitOne(Instant now);
  Instant NextTransmission() const;
  Instant NextArrival() const { return std::min(delay_.Next(), slots_.Next()); }
  std::optional<Packet> Arrive();
  void SettleArrivals(Instant at);
  void Settle(Instant now);

  Spec spec_;  // SPEC from which the current stages were built
  FrameStore& store_;
  PipelineOptions options_;
  Counters counters_;
  FateObserver* observer_ = nullptr;
  RandomStream loss_random_, bits_random_, corruption_random_, duplicate_random_;
  std::optional<LossModel> loss_;
  std::optional<BitErrors> bit_errors_;
  std::optional<Corruption> corruption_;
  std::optional<Chance> duplicate_;
  std::unique_ptr<Bottleneck> bottleneck_;
  SharedLink* shared_ = nullptr;                    // if not null, used instead of bottleneck_
  uint32_t user_ = 0;                               // number of this pipeline as a user of shared_
  uint64_t shared_packets_ = 0, shared_bytes_ = 0;  // packets of this pipeline in shared_
  bool joined_ = false;                             // a SPEC was set, so shared_ is final
  Instant begun_ = Instant::Never();
  bool draining_ = false;  // the bottleneck is no longer part of the path, but not yet empty
  DelayStage delay_;
  SlotStage slots_;
  MemoryFifo settled_;  // packets delivered, but not yet fetched by Pop()
};

}  // namespace viaduct::path
