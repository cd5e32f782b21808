// The agent, which runs in a guest or, for sockets of the host, in the simulator's process. It
// receives requests from its transport, dispatches them to the registered handlers, watches
// descriptors, and combines the answers and events of an instant into one message.
//
// In virtual time a system call takes no time unless it fails (1 us) or reads a clock (256 ns). So
// the agent waits level-triggered and makes only system calls that will succeed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/poller.h"
#include "guest/agent/agent_protocol.h"
#include "guest/service/transport.h"

namespace viaduct::guest::service {

// The maximum number of bytes that are read at once from a stream or a program's output, or sent at
// once as zeros.
inline constexpr size_t kPiece = 64 * 1024;

class Agent {
 public:
  // A handler of a request. A SystemError thrown by a handler is answered with kFailed and its
  // errno, another Error with kFailed and EINVAL; an agent::ProtocolError ends the agent.
  using Handler = std::function<void(const agent::Operation&)>;
  using Watcher = std::function<void(uint32_t events)>;

  explicit Agent(std::unique_ptr<Transport> transport);

  // Registers the handler of a request code; each code has one handler.
  void Handle(agent::Code code, Handler handler);
  // Adds a function that is called before each message is sent and may add operations to the
  // message.
  void BeforeFlush(std::function<void()> hook) { hooks_.push_back(std::move(hook)); }

  // Calls `watcher` while any of the EPOLL... events holds (level-triggered). EPOLLERR and EPOLLHUP
  // are always watched. The caller keeps the ownership of the descriptor and must call Unwatch()
  // before closing the descriptor.
  void Watch(int fd, uint32_t events, Watcher watcher);
  void ChangeWatch(int fd, uint32_t events);
  void Unwatch(int fd);

  void Post(agent::Code code, uint32_t subject, uint32_t request,
            std::initializer_list<std::span<const std::byte>> parts, uint16_t flags = 0);
  void Done(const agent::Operation& operation, std::span<const std::byte> result = {});
  void Fail(const agent::Operation& operation, int error_number, std::string_view attempted);

  // Sends kHello and runs until the transport ends. Throws an Error after which the agent cannot
  // continue.
  void Run();
  // Waits for events for at most `timeout`, and handles the events that have arrived. Returns false
  // if no event has arrived.
  bool RunOnce(Duration timeout);
  // Handles the requests that the transport has received, and sends the answers. Used for a
  // transport without a descriptor.
  void Serve();
  // Returns a descriptor that is readable when RunOnce() has events to handle.
  int fd() const { return poller_.fd(); }
  bool ended() const { return ended_; }  // true after the transport has ended
  void Hello();

 private:
  struct Watched {
    // A number that distinguishes the descriptor from earlier descriptors with the same number.
    uint32_t generation = 0;
    std::shared_ptr<Watcher> watcher;
  };

  void TakeRequests();
  void Dispatch(const agent::Operation& operation);
  void Deliver(uint64_t key, uint32_t events);
  uint64_t Key(int fd) const;
  void Flush();

  std::unique_ptr<Transport> transport_;
  Poller poller_;
  agent::MessageReader reader_;
  agent::MessageWriter writer_;
  std::map<agent::Code, Handler> handlers_;
  std::vector<std::function<void()>> hooks_;
  std::vector<Watched> watched_;  // index: the descriptor's number
  bool ended_ = false;
};

}  // namespace viaduct::guest::service
