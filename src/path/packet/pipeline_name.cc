#include "path/packet/pipeline_name.h"

namespace viaduct::path {

std::string PipelineName(const std::string& pair, const std::string& class_name,
                         Direction direction) {
  const std::string path = class_name.empty() ? pair : pair + "/" + class_name;
  return path + (direction == Direction::kUp ? "/up" : "/down");
}

std::string SharedPairName(const std::string& link, const std::string& node, long copies) {
  const std::string name = link + "." + node;
  return copies == 0 ? name : name + "-" + std::to_string(copies + 1);
}

}  // namespace viaduct::path
