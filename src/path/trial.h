// Checks SPECs and changes of SPECs before anything runs.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "path/pipeline.h"

namespace viaduct::path {

// Pipelines that carry no packets. They refuse the same SPECs as the pipelines of an engine or of a
// simulation.
class Trial {
 public:
  explicit Trial(FileReader read_file);
  ~Trial();
  // The place of a pipeline in its pair. For a link of many nodes, the pair has no NAT.
  struct Place {
    std::shared_ptr<Nat> nat;
    Direction direction = Direction::kUp;
    bool is_class = false;
  };
  // Adds a pipeline with this SPEC and returns the pipeline's number: 0, 1, 2... Throws UsageError
  // if the SPEC is refused.
  size_t Add(const Spec& spec, Place place);
  // Throws UsageError if a link that pipelines share has no rate.
  void CheckLinks() const { links_.Check(); }
  // Throws UsageError, and changes nothing, if the pipeline cannot change to this SPEC now.
  void Change(size_t pipeline, const Spec& spec);

 private:
  class NoFrames;

  FileReader read_file_;
  std::unique_ptr<NoFrames> frames_;
  SharedLinks links_;
  std::vector<std::unique_ptr<Pipeline>> pipelines_;
};

}  // namespace viaduct::path
