// A real kernel for tests: a guest with its agent, in a separate calendar.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/time.h"
#include "guest/agent/agent_client.h"
#include "guest/agent/control_nic.h"
#include "guest/embed/place.h"
#include "guest/image/image.h"
#include "guest/time/calendar.h"
#include "guest/time/event_queue.h"
#include "sys/process/find_program.h"

namespace viaduct::guest {

inline Instant AtMs(int64_t ms) { return Instant() + Duration::Milliseconds(ms); }

// The place of a guest's kernel: a separate process; the test's process (kEmbedded); or the test's
// process at other addresses, because the addresses to which the kernel is linked are taken
// (kMoved). A guest must behave in the same way in each place.
enum class GuestPlace { kProcess, kEmbedded, kMoved };

inline constexpr auto kPlaces = {GuestPlace::kProcess, GuestPlace::kEmbedded, GuestPlace::kMoved};
inline std::string NameOf(GuestPlace place) {
  switch (place) {
    case GuestPlace::kProcess:
      return "Process";
    case GuestPlace::kEmbedded:
      return "Embedded";
    case GuestPlace::kMoved:
      return "Moved";
  }
  return "";
}
inline std::string PlaceName(const testing::TestParamInfo<GuestPlace>& info) {
  return NameOf(info.param);
}

// Reserves the addresses to which an image is linked, unless a guest has already reserved them.
class TakenAddresses {
 public:
  explicit TakenAddresses(const std::filesystem::path& image)
      : taken_(mmap(reinterpret_cast<void*>(embed::Examine(image).begin()), embed::kPageSize,
                    PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0)) {
    if (taken_ == MAP_FAILED && errno != EEXIST)
      throw SystemError("take the addresses of a kernel", errno);
  }
  TakenAddresses(const TakenAddresses&) = delete;
  TakenAddresses& operator=(const TakenAddresses&) = delete;
  ~TakenAddresses() {
    if (taken_ != MAP_FAILED) munmap(taken_, embed::kPageSize);
  }

 private:
  void* taken_;
};

class RealGuest {
 protected:
  explicit RealGuest(Duration timeout) : calendar_(queue_, {.timeout = timeout}) {}

  // Creates a guest with the newest kernel that was built and the agent of this build. Throws
  // EnvironmentError if the kernel or the agent is missing. The test may still change options_
  // until calendar_.Boot().
  void MakeGuest(const std::string& name, GuestPlace place = GuestPlace::kProcess) {
    options_.image = FindImage("");
    options_.init = sys::FindCompanion("viaduct-guest");
    options_.preload = sys::FindCompanion("libviaduct-random.so");
    options_.embedded = place != GuestPlace::kProcess;
    if (place == GuestPlace::kMoved) taken_.emplace(options_.image.file);
    const std::string why = options_.embedded ? EmbeddingUnavailable(options_) : "";
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
  std::optional<TakenAddresses> taken_;
  EventQueue queue_;
  Calendar calendar_;
  Guest* guest_ = nullptr;
  std::unique_ptr<ControlNic> control_;
  std::unique_ptr<AgentClient> agent_;
};

}  // namespace viaduct::guest
