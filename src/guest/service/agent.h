// The agent, in a guest or, for the host's own sockets, in the simulator's process: receives
// requests from its transport, dispatches them to the registered handlers, watches descriptors, and
// combines the answers and events of an instant into one message.
//
// In virtual time a system call costs nothing, unless it fails (1 us) or reads a clock (256 ns). So
// everything here waits level-triggered and makes only calls that will succeed.
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

// The maximum number of bytes read at once from a stream or a program's output, or sent at once as
// zeros.
inline constexpr size_t kPiece = 64 * 1024;

class Agent {
 public:
  // Errors (SystemError with its errno, any other as EINVAL) are answered with kFailed; an
  // agent::ProtocolError ends the agent.
  using Handler = std::function<void(const agent::Operation&)>;
  using Watcher = std::function<void(uint32_t events)>;

  explicit Agent(std::unique_ptr<Transport> transport);

  // Registers the handler of a request; one handler per code.
  void Handle(agent::Code code, Handler handler);
  // Sets a function that is called before each message is sent, which can add to it.
  void BeforeFlush(std::function<void()> hook) { hooks_.push_back(std::move(hook)); }

  // Calls `watcher` while any of the EPOLL... events holds (level-triggered). EPOLLERR and EPOLLHUP
  // are always watched. The caller still owns the descriptor and must call Unwatch before closing
  // it.
  void Watch(int fd, uint32_t events, Watcher watcher);
  void ChangeWatch(int fd, uint32_t events);
  void Unwatch(int fd);

  void Post(agent::Code code, uint32_t subject, uint32_t request,
            std::initializer_list<std::span<const std::byte>> parts, uint16_t flags = 0);
  void Done(const agent::Operation& operation, std::span<const std::byte> result = {});
  void Fail(const agent::Operation& operation, int error_number, std::string_view attempted);

  // Sends kHello and runs until the transport ends. Throws errors after which the agent cannot
  // continue.
  void Run();
  // Runs one round: waits for events, at most `timeout`, and handles them. Returns false if
  // nothing has happened.
  bool RunOnce(Duration timeout);
  // Handles the requests that the transport has, and sends the answers; for a transport without a
  // descriptor.
  void Serve();
  // Readable when RunOnce() has something to do.
  int fd() const { return poller_.fd(); }
  bool ended() const { return ended_; }  // whether the transport has ended
  void Hello();

 private:
  struct Watched {
    uint32_t generation = 0;  // distinguishes a descriptor from an earlier one of the same number
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
  std::vector<Watched> watched_;  // index: the descriptor
  bool ended_ = false;
};

}  // namespace viaduct::guest::service
