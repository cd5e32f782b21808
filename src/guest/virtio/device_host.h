// The services that a device needs from the owner of its guest: the time, and functions that
// interrupt the guest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/time.h"

namespace viaduct::guest {

// The host of a guest's devices; each guest has one. Interrupts may be raised only in events of the
// simulation, when every guest waits; while a guest runs they throw Error.
class DeviceHost {
 public:
  virtual ~DeviceHost() = default;
  // Returns the present instant of the guest.
  virtual Instant Present() = 0;
  // Runs `action` as an event of the simulation at `at`; until then no guest advances past that
  // instant.
  virtual void Schedule(Instant at, std::function<void()> action) = 0;
  // Sends a vhost-user request on the device's channel for interrupts and waits for the answer,
  // which the guest's interrupt handler sends at the present instant.
  virtual void Interrupt(int channel, std::span<const std::byte> request) = 0;
  // Interrupts the guest for a queue of the device with the number `device` when the guest is run
  // next, which is at the present instant. Returns false and does nothing if the guest's kernel
  // accepts interrupts only by Interrupt(). A device's first interrupt must be made by Interrupt().
  virtual bool InterruptWithRun(size_t device, uint32_t queue) = 0;
};

}  // namespace viaduct::guest
