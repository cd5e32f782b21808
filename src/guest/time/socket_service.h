// The service of sockets by a guest's kernel itself (patch 0011) instead of the guest's agent. The
// agent still opens, binds and connects the sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

namespace viaduct::guest {

// An operation on a socket; the codes are those of enum um_timetravel_socket_code in
// include/uapi/linux/um_timetravel.h.
struct SocketOperation {
  enum class Code : uint16_t {
    kAdopt = 1,  // takes over a socket. value: the agent's descriptor
    // Sends the payload, or `value` zeros; one message if the socket has messages.
    kSend,
    // Grants `value` further bytes that may be received; the last received message may exceed the
    // credit.
    kCredit,
    kShutdown,  // value: SHUT_RD or SHUT_WR; takes effect after all data is sent
    kOption,    // sets an option. payload: agent::SocketOption, the option's value
    kRelease,   // the socket's last operation; takes effect after all data is sent
  };
  Code code{};
  uint32_t socket = 0;
  uint32_t value = 0;
  bool zeros = false;  // kSend: the payload is `value` zeros
  bool abort = false;  // kRelease: the remaining data is not sent
  // True for kSend if the receiver's sockaddr follows the `value` bytes, or replaces them if they
  // are zeros.
  bool message = false;
};

struct SocketEvent {
  enum class Code : uint16_t {
    kData = 0x100,  // bytes, or `value` zeros: a piece of a stream, or a message
    kWritten,       // value: the number of bytes that were accepted since the last kWritten
    kEnd,           // the peer has finished sending
    kBroken,        // value: an errno; for a socket without connection an ICMP error
    kFailed,        // value: an errno; flags: the operation's SocketOperation::Code
    kReleased,      // the answer to kRelease; the socket's last event
  };
  Code code{};
  uint32_t socket = 0;
  uint32_t value = 0;
  uint16_t flags = 0;
  bool zeros = false;
  std::vector<std::byte> bytes;
  bool message = false;            // kData: a message; the following members are set
  bool part = false;               // the message continues in the socket's next event
  std::vector<std::byte> name;     // the sender's sockaddr; empty: unknown
  std::vector<std::byte> control;  // the message's control messages (recvmsg(2))
};

class SocketService {
 public:
  virtual ~SocketService() = default;
  // Returns whether the guest's kernel serves sockets; known after the guest has booted.
  virtual bool Available() const = 0;
  // Returns whether the kernel serves sockets of any protocol, not only of TCP.
  virtual bool ServesMessages() const = 0;
  // Passes an operation to the kernel. The kernel carries out the operation at the present instant,
  // after earlier operations and before the agent's requests of that instant. The payload is the
  // concatenation of `parts`. Must be called only in events of the simulation.
  virtual void Put(const SocketOperation& operation,
                   std::initializer_list<std::span<const std::byte>> parts) = 0;
  // Sets the callback that receives each event. The callback is called at the event's instant, when
  // the guest begins to wait.
  virtual void SetReceiver(std::function<void(SocketEvent)> receiver) = 0;
};

}  // namespace viaduct::guest
