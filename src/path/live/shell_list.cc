#include "path/live/shell_list.h"

namespace viaduct::path {

using nlohmann::json;

void ShellInfo::Read(const sys::RecordLines& lines) {
  lines.front().at("network").get_to(network);
  for (const json& line : lines) {
    if (line.contains("inside")) inside = line["inside"].get<ShellInside>();
    if (line.contains("rules")) rules.push_back(line["rules"].get<wire::Family>());
    if (line.contains("ifindex")) forwarding.push_back(line.get<ForwardingInterface>());
  }
}

// The name of the registry begins with a dot; no lab's name begins with a dot (lab/record.h).
sys::Registry Shells() {
  return {sys::RunPlace({".shells", 0755, false}), {"record.json", "control", "resolv.conf"}};
}

std::vector<ShellInfo> ListShells() { return Shells().List<ShellInfo>(); }

}  // namespace viaduct::path
