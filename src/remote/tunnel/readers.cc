#include "remote/tunnel/readers.h"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include "base/error.h"

namespace viaduct::tunnel {
namespace {

UniqueFd EventFd(unsigned value) {
  return UniqueFd(SystemCall("eventfd", eventfd(value, EFD_CLOEXEC | EFD_NONBLOCK)));
}

}  // namespace

Readers::Readers(std::vector<Underlay*> sockets, Intake& intake)
    : sockets_(std::move(sockets)), intake_(intake), wake_(EventFd(1)), end_(EventFd(0)) {
  threads_.reserve(sockets_.size());
}

Readers::~Readers() {
  // The destructor writes nothing to the event if there are no threads, because a forked child may
  // share the event.
  if (threads_.empty()) return;
  eventfd_write(end_.get(), 1);
  for (std::thread& thread : threads_) thread.join();
}

void Readers::Attend() {
  // The event is read before awake_ is cleared: a frame queued before awake_ is cleared is taken
  // after this call, and a frame queued later makes the descriptor readable again.
  eventfd_t count = 0;
  eventfd_read(wake_.get(), &count);
  awake_ = false;
  if (!threads_.empty()) return;
  // The threads block all signals, which the process's other threads handle.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (Underlay* socket : sockets_) threads_.emplace_back([this, socket] { Run(*socket); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Readers::Wake() {
  if (!awake_.exchange(true)) eventfd_write(wake_.get(), 1);
}

void Readers::Run(Underlay& socket) {
  io::SuperFrameSplitter splitter;
  std::array<pollfd, 2> wait{{{socket.fd(), POLLIN, 0}, {end_.get(), POLLIN, 0}}};
  for (;;) {
    if (poll(wait.data(), wait.size(), -1) < 0) continue;  // EINTR, caused by a debugger
    if (wait[1].revents != 0) return;
    socket.Receive([&](const Underlay::Message& message) { intake_.Accept(message, splitter); });
    Wake();
  }
}

size_t SuitableReaders() {
  cpu_set_t mine;
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return 0;
  return std::min<size_t>(static_cast<size_t>(CPU_COUNT(&mine)) - 1, kMaxReaders);
}

}  // namespace viaduct::tunnel
