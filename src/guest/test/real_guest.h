// For tests with a real kernel: a guest with its agent, in a calendar of its own.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/time.h"
#include "guest/agent/agent_client.h"
#include "guest/agent/control_nic.h"
#include "guest/image/image.h"
#include "guest/time/calendar.h"
#include "guest/time/event_queue.h"
#include "sys/find_program.h"

namespace viaduct::guest {

// Where the kernel is; what a guest does must be the same.
enum class GuestPlace { kProcess, kEmbedded };

inline constexpr auto kPlaces = {GuestPlace::kProcess, GuestPlace::kEmbedded};
inline std::string PlaceName(const testing::TestParamInfo<GuestPlace>& info) {
  return info.param == GuestPlace::kEmbedded ? "Embedded" : "Process";
}

class RealGuest {
 protected:
  explicit RealGuest(Duration patience) : calendar_(queue_, {.patience = patience}) {}

  // Creates a guest with the newest kernel that was built and the agent of this build. Throws
  // EnvironmentError if one of them is missing. Options may still be changed until
  // calendar_.Boot().
  void MakeGuest(const std::string& name, GuestPlace place = GuestPlace::kProcess) {
    options_.image = FindImage("");
    options_.init = sys::FindCompanion("viaduct-guest");
    options_.preload = sys::FindCompanion("libviaduct-random.so");
    options_.embedded = place == GuestPlace::kEmbedded;
    const std::string why = options_.embedded ? WhyNotEmbedded(options_) : "";
    if (!why.empty()) throw EnvironmentError(why);
    options_.boot_parameters = {"VIADUCT_CONTROL_MTU=" + std::to_string(ControlNic::kMtu)};
    guest_ = &calendar_.AddGuest(name, [this](const GuestEndpoints& endpoints) {
      return GuestProcess(options_, endpoints);
    });
    control_ = std::make_unique<ControlNic>(calendar_, *guest_);
    agent_ = std::make_unique<AgentClient>(*control_, [this](std::function<void()> action) {
      calendar_.Schedule(calendar_.Present(), std::move(action));
    });
  }

  GuestOptions options_;
  EventQueue queue_;
  Calendar calendar_;
  Guest* guest_ = nullptr;
  std::unique_ptr<ControlNic> control_;
  std::unique_ptr<AgentClient> agent_;
};

}  // namespace viaduct::guest
