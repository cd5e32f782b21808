// The sockets that a guest's kernel serves through the rings of the shared schedule.
#pragma once

#include <functional>
#include <optional>

#include "guest/time/calendar.h"
#include "guest/time/guest.h"
#include "guest/time/socket_ring.h"
#include "guest/time/socket_service.h"

namespace viaduct::guest {

class KernelSockets final : public SocketService {
 public:
  // Registers the callbacks in the calendar. Must be called before the guest boots; the calendar
  // and the guest must outlive this object.
  KernelSockets(Calendar& calendar, Guest& guest);
  ~KernelSockets() override;
  KernelSockets(const KernelSockets&) = delete;
  KernelSockets& operator=(const KernelSockets&) = delete;

  bool Available() const override { return ring_.has_value(); }
  bool ServesMessages() const override;
  void Put(const SocketOperation& operation,
           std::initializer_list<std::span<const std::byte>> parts) override;
  void SetReceiver(std::function<void(SocketEvent)> receiver) override {
    receiver_ = std::move(receiver);
  }

 private:
  bool AfterRun(std::byte* memory);

  Calendar& calendar_;
  Guest& guest_;
  std::optional<SocketRing> ring_;
  std::function<void(SocketEvent)> receiver_;
};

}  // namespace viaduct::guest
