#include "port/merged_port.h"

#include <sys/epoll.h>

#include <utility>

#include "base/error.h"

namespace viaduct::io {

MergedPort::MergedPort(std::vector<std::unique_ptr<AnyPort>> ports)
    : ports_(std::move(ports)), any_(SystemCall("epoll_create", epoll_create1(EPOLL_CLOEXEC))) {
  for (const auto& port : ports_) {
    epoll_event readable{};
    readable.events = EPOLLIN;
    SystemCall("add a queue to epoll", epoll_ctl(any_.get(), EPOLL_CTL_ADD, port->fd(), &readable));
  }
}

size_t MergedPort::Receive(std::span<ReceivedFrame> frames) {
  for (size_t looked = 0; looked < ports_.size(); ++looked) {
    AnyPort& port = *ports_[next_];
    next_ = (next_ + 1) % ports_.size();
    if (const size_t count = port.Receive(frames)) return count;
  }
  return 0;
}

PortCounters MergedPort::Counters() {
  PortCounters sum;
  for (const auto& port : ports_) sum += port->Counters();
  return sum;
}

std::string MergedPort::Description() const {
  return ports_[0]->Description() + ", " + std::to_string(ports_.size()) + " queues";
}

}  // namespace viaduct::io
