#include "sys/bpf/ring.h"

#include <bpf/libbpf.h>

#include <cerrno>
#include <utility>

#include "base/error.h"

namespace viaduct::bpf {

Ring::Ring(const Map& map, Handler handler, std::string_view doing)
    : handler_(std::move(handler)),
      ring_(ring_buffer__new(map.fd(), &Ring::OnEvent, &handler_, nullptr), ring_buffer__free) {
  if (!ring_) throw SystemError(doing, errno);
}

Ring::~Ring() = default;

int Ring::fd() const { return ring_buffer__epoll_fd(ring_.get()); }

void Ring::Read() { ring_buffer__consume(ring_.get()); }

int Ring::OnEvent(void* handler, void* data, size_t) {
  return (*static_cast<const Handler*>(handler))(data) ? 0 : -1;
}

}  // namespace viaduct::bpf
