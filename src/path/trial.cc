#include "path/trial.h"

namespace viaduct::path {

class Trial::NoFrames final : public FrameStore {
 public:
  std::span<std::byte> Bytes(FrameHandle) override { return {}; }
  std::optional<FrameHandle> Clone(FrameHandle) override { return std::nullopt; }
  void CompleteChecksum(FrameHandle) override {}
  void Free(FrameHandle) override {}
};

Trial::Trial(FileReader read_file)
    : read_file_(std::move(read_file)), frames_(std::make_unique<NoFrames>()) {}

Trial::~Trial() = default;

size_t Trial::Add(const Spec& spec, Place place) {
  PipelineOptions options;
  options.read_file = read_file_;
  options.links = &links_;
  options.nat = std::move(place.nat);
  options.direction = place.direction;
  options.is_class = place.is_class;
  pipelines_.push_back(std::make_unique<Pipeline>(spec, *frames_, std::move(options)));
  return pipelines_.size() - 1;
}

void Trial::Change(size_t pipeline, const Spec& spec) {
  pipelines_.at(pipeline)->Change(spec, Instant());
}

}  // namespace viaduct::path
