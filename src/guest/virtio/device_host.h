// The services that a device needs from the owner of its guest: the time, and a way to interrupt
// the guest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/time.h"

namespace viaduct::guest {

// One for each guest. Interrupts may be raised only in events of the simulation, when every guest
// waits; while a guest runs they throw Error.
class DeviceHost {
 public:
  virtual ~DeviceHost() = default;
  // Returns the present instant of the guest.
  virtual Instant Present() = 0;
  // Runs `action` as an event of the simulation at `at`; until then no guest advances past that
  // instant.
  virtual void Schedule(Instant at, std::function<void()> action) = 0;
  // Sends a vhost-user request on the device's channel, which the guest's interrupt handler
  // answers at the present instant, and waits for the answer.
  virtual void Interrupt(int channel, std::span<const std::byte> request) = 0;
  // Interrupts the guest for a queue of the device with this number when it is run next, which is
  // at the present instant. Returns false and does nothing if its kernel accepts interrupts only by
  // Interrupt(). A device's first interrupt is always by Interrupt().
  virtual bool InterruptWithRun(size_t device, uint32_t queue) = 0;
};

}  // namespace viaduct::guest
