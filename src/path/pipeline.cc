#include "path/pipeline.h"

#include "path/stages.h"

namespace viaduct::path {

Pipeline::Pipeline(const Spec& spec, FrameStore& store, PipelineOptions options)
    : stages_(std::make_unique<Stages>(spec, store, std::move(options))) {}
Pipeline::~Pipeline() = default;
Pipeline::Pipeline(Pipeline&&) noexcept = default;
Pipeline& Pipeline::operator=(Pipeline&&) noexcept = default;

void Pipeline::Push(FrameHandle frame, uint32_t bytes, Instant now) {
  stages_->Push(frame, bytes, now);
}
void Pipeline::Refuse(uint32_t bytes, Fate cause, Instant now) {
  stages_->Refuse(bytes, cause, now);
}
Instant Pipeline::NextEvent() const { return stages_->NextEvent(); }
size_t Pipeline::Pop(Instant now, std::span<Departure> out) { return stages_->Pop(now, out); }
bool Pipeline::Stalled() const { return stages_->Stalled(); }
void Pipeline::Change(const Spec& spec, Instant now) { stages_->Change(spec, now); }
const Spec& Pipeline::spec() const { return stages_->spec(); }
const Counters& Pipeline::counters() const { return stages_->counters(); }
uint64_t Pipeline::waiting() const { return stages_->waiting(); }
uint64_t Pipeline::waiting_bytes() const { return stages_->waiting_bytes(); }
void Pipeline::SetObserver(FateObserver* observer) { stages_->SetObserver(observer); }

}  // namespace viaduct::path
