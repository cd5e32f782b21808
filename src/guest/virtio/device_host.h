// What a device needs of whoever runs its guest: the time, and a way to interrupt the guest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/time.h"

namespace viaduct::guest {

// One for each guest. Interrupts are for events of the simulation, when every guest waits; while
// one runs they throw Error.
class DeviceHost {
 public:
  virtual ~DeviceHost() = default;
  // The instant at which the guest does what it is doing.
  virtual Instant Present() = 0;
  // Runs `action` as an event of the simulation at `at`, which no guest passes before.
  virtual void Schedule(Instant at, std::function<void()> action) = 0;
  // Sends a vhost-user request on the device's channel, which the guest's interrupt handler
  // answers at the present instant, and waits for the answer.
  virtual void Interrupt(int channel, std::span<const std::byte> request) = 0;
  // Interrupts the guest for a queue of the device with this number when it is next let run, which
  // is at the present instant; false, and nothing happens, where its kernel takes no interrupts but
  // by Interrupt(). A device's first interrupt is always one of those.
  virtual bool InterruptWithRun(size_t device, uint32_t queue) = 0;
};

}  // namespace viaduct::guest
