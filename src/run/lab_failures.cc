#include "run/lab_failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace viaduct::run {

std::string ForwarderFailure(const nlohmann::json& lab) {
  const auto forwarder = lab.find("forwarder");
  if (forwarder == lab.end()) return "";
  const bool runs = forwarder->at("running").get<bool>();
  const int restarts = forwarder->at("restarts").get<int>();
  if (runs && restarts == 0) return "";
  const auto words = forwarder->value("last_words", std::string());
  return fmt::format("the forwarder exited unexpectedly {} times and was {}; packets were lost{}",
                     std::max(restarts, 1),
                     runs ? "restarted" : "not restarted after the last exit",
                     words.empty() ? "" : fmt::format(" ({})", words));
}

}  // namespace viaduct::run
