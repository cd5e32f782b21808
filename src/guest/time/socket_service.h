// Sockets that a guest's kernel serves itself (patch 0011), instead of its agent, which opens,
// binds and connects them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

namespace viaduct::guest {

// enum um_timetravel_socket_code of include/uapi/linux/um_timetravel.h
struct SocketOperation {
  enum class Code : uint16_t {
    kAdopt = 1,  // value: the agent's descriptor
    kSend,       // the payload, or value zeros; one message, of a socket that has messages
    kCredit,     // value: further bytes that may be received; the last message may exceed them
    kShutdown,   // value: SHUT_RD, SHUT_WR; after all data is sent
    kOption,     // agent::SocketOption and its value
    kRelease,    // the socket's last operation; after all data is sent
  };
  Code code{};
  uint32_t socket = 0;
  uint32_t value = 0;
  bool zeros = false;    // kSend
  bool abort = false;    // kRelease: without sending the remaining data
  bool message = false;  // kSend: the receiver's sockaddr follows `value` bytes, or zeros
};

struct SocketEvent {
  enum class Code : uint16_t {
    kData = 0x100,  // bytes, or value zeros: of a stream, or a message
    kWritten,       // value: further bytes of kSend that were accepted
    kEnd,           // the peer has finished sending
    kBroken,        // value: errno; for a socket without connection an ICMP error
    kFailed,        // value: errno; flags: SocketOperation::Code
    kReleased,      // answers kRelease; the socket's last event
  };
  Code code{};
  uint32_t socket = 0;
  uint32_t value = 0;
  uint16_t flags = 0;
  bool zeros = false;
  std::vector<std::byte> bytes;
  bool message = false;            // kData: the following members are set
  bool part = false;               // the message continues with the next event of this socket
  std::vector<std::byte> name;     // the sender's sockaddr; empty: unknown
  std::vector<std::byte> control;  // control messages (recvmsg(2))
};

class SocketService {
 public:
  virtual ~SocketService() = default;
  // Returns whether this guest's kernel serves sockets; known once it has booted.
  virtual bool Available() const = 0;
  // Returns whether the served sockets can be of any protocol, and not only of TCP.
  virtual bool ServesMessages() const = 0;
  // Passes an operation to the kernel, which carries it out at the present instant, after earlier
  // operations and before the agent's requests of that instant. The payload is the concatenation of
  // `parts`. Call it only in events of the simulation.
  virtual void Put(const SocketOperation& operation,
                   std::initializer_list<std::span<const std::byte>> parts) = 0;
  // Sets the callback for events, which is called at an event's instant, while its guest stops
  // running.
  virtual void SetReceiver(std::function<void(SocketEvent)> receiver) = 0;
};

}  // namespace viaduct::guest
