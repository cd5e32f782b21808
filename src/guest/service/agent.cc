#include "guest/service/agent.h"

#include <sys/utsname.h>

#include <cerrno>
#include <utility>

#include "base/error.h"

namespace viaduct::guest::service {

using agent::BytesOf;
using agent::Code;
using agent::Operation;

Agent::Agent(std::unique_ptr<Transport> transport)
    : transport_(std::move(transport)),
      writer_(agent::kMaxMessage,
              [this](std::span<const std::byte> message) { transport_->Send(message); }) {
  if (transport_->fd() >= 0) Watch(transport_->fd(), EPOLLIN, [this](uint32_t) { TakeRequests(); });
}

void Agent::TakeRequests() {
  ended_ = !transport_->Receive([this](std::span<const std::byte> message) {
    reader_.Read(message, [this](const Operation& operation) { Dispatch(operation); });
  });
}

void Agent::Serve() {
  TakeRequests();
  Flush();
}

void Agent::Handle(Code code, Handler handler) {
  if (!handlers_.emplace(code, std::move(handler)).second) {
    throw Error("two handlers for operation " + std::to_string(static_cast<int>(code)));
  }
}

void Agent::Dispatch(const Operation& operation) {
  const auto handler = handlers_.find(operation.code);
  if (handler == handlers_.end()) {
    throw agent::ProtocolError("unknown operation " +
                               std::to_string(static_cast<int>(operation.code)));
  }
  try {
    handler->second(operation);
  } catch (const agent::ProtocolError&) {
    throw;
  } catch (const SystemError& error) {
    Fail(operation, error.error_number(), error.what());
  } catch (const Error& error) {
    Fail(operation, EINVAL, error.what());
  }
}

uint64_t Agent::Key(int fd) const {
  const uint32_t generation = watched_[static_cast<size_t>(fd)].generation;
  return uint64_t{generation} << 32 | static_cast<uint32_t>(fd);
}

void Agent::Watch(int fd, uint32_t events, Watcher watcher) {
  const auto index = static_cast<size_t>(fd);
  if (watched_.size() <= index) watched_.resize(index + 1);
  watched_[index].watcher = std::make_shared<Watcher>(std::move(watcher));
  poller_.Add(fd, Key(fd), events);
}

void Agent::ChangeWatch(int fd, uint32_t events) { poller_.Change(fd, Key(fd), events); }

void Agent::Unwatch(int fd) {
  Watched& watched = watched_[static_cast<size_t>(fd)];
  if (!watched.watcher) return;
  watched.watcher.reset();
  ++watched.generation;
  poller_.Remove(fd);
}

void Agent::Deliver(uint64_t key, uint32_t events) {
  const Watched& watched = watched_[static_cast<uint32_t>(key)];
  if (watched.generation != key >> 32 || !watched.watcher) return;
  const auto watcher = watched.watcher;  // a copy, because the watcher may unwatch itself
  (*watcher)(events);
}

void Agent::Post(Code code, uint32_t subject, uint32_t request,
                 std::initializer_list<std::span<const std::byte>> parts, uint16_t flags) {
  writer_.Add(code, subject, request, parts, flags);
}

void Agent::Done(const Operation& operation, std::span<const std::byte> result) {
  Post(Code::kDone, operation.subject, operation.request, {result});
}

void Agent::Fail(const Operation& operation, int error_number, std::string_view attempted) {
  const agent::Failed failed{error_number, static_cast<uint16_t>(operation.code), 0};
  Post(Code::kFailed, operation.subject, operation.request, {BytesOf(failed), BytesOf(attempted)});
}

void Agent::Flush() {
  for (const auto& hook : hooks_) hook();
  writer_.Flush();
}

void Agent::Hello() {
  agent::Hello hello{};
  hello.max_message = agent::kMaxMessage;
  utsname name;
  SystemCall("uname", uname(&name));
  std::string_view(name.release).copy(hello.release, sizeof hello.release - 1);
  Post(Code::kHello, 0, 0, {BytesOf(hello)});
  Flush();
}

bool Agent::RunOnce(Duration timeout) {
  const Poller::Ready ready = poller_.Wait(timeout);
  for (const epoll_event& event : ready) Deliver(event.data.u64, event.events);
  if (!ended_) Flush();
  return !ready.empty();
}

void Agent::Run() {
  Hello();
  while (!ended_) RunOnce(Duration::Max());
}

}  // namespace viaduct::guest::service
