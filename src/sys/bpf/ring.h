// The events that an eBPF program writes to a ring (BPF_MAP_TYPE_RINGBUF).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "sys/bpf/map.h"

struct ring_buffer;

namespace viaduct::bpf {

// Reads one ring buffer. For use by one thread.
class Ring {
 public:
  // Called with each event; returns whether Read() continues with the next event. The event is
  // valid only during the call.
  using Handler = std::function<bool(const void* event)>;

  // `map`: the ring, which must outlive this object. `doing`: begins the text of errors. Throws
  // SystemError.
  Ring(const Map& map, Handler handler, std::string_view doing);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // Returns a descriptor that is readable while the ring contains events.
  int fd() const;
  // Calls the handler with the available events, the earliest first, until it returns false.
  void Read();

 private:
  static int OnEvent(void* handler, void* data, size_t size);

  Handler handler_;
  std::unique_ptr<ring_buffer, void (*)(ring_buffer*)> ring_;
};

}  // namespace viaduct::bpf
