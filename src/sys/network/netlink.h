// Netlink requests to the kernel, in the namespace in which the socket was opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/wire/address.h"

struct nl_msg;
struct nl_sock;
struct nlmsgerr;
struct nlmsghdr;

namespace viaduct::sys {

// Returns AF_INET or AF_INET6, the family of the address.
uint8_t FamilyOf(const wire::IpAddress& address);

// A netlink request under construction: header, family header, attributes. Functions throw Error if
// the request would exceed the kernel's message size.
class NetlinkMessage {
 public:
  NetlinkMessage(int type, int flags);
  NetlinkMessage(NetlinkMessage&&) noexcept;
  ~NetlinkMessage();

  // Appends the fixed header that follows nlmsghdr (ifinfomsg, rtmsg, ...).
  void AppendHeader(const void* data, size_t length);
  template <class T>
  void AppendHeader(const T& header) {
    AppendHeader(&header, sizeof header);
  }
  void Put(int attribute, const void* data, size_t length);
  void Put(int attribute, std::string_view text);  // text with its terminating zero
  void Put(int attribute, const wire::IpAddress& address);
  void PutU8(int attribute, uint8_t value);
  void PutU16(int attribute, uint16_t value);
  void PutU32(int attribute, uint32_t value);
  void PutU64(int attribute, uint64_t value);
  // Adds an attribute that contains all attributes that `fill` adds.
  void Nest(int attribute, const std::function<void()>& fill);

  nl_msg* get() const { return message_; }

 private:
  nl_msg* message_;
};

// Returns the kernel's explanation in the NLMSG_ERROR with this body (NLMSGERR_ATTR_MSG), or
// nothing if the kernel gave no explanation.
std::string ExplanationOf(const nlmsgerr* error);

// One netlink socket, of the route family unless another family is given (NETLINK_SOCK_DIAG). The
// kernel's error messages include an explanation, and do not repeat the request. Reusable; one
// thread at a time.
class NetlinkSocket {
 public:
  // Opens a socket in the calling thread's namespace, or in the given namespace (which the socket
  // keeps alive).
  NetlinkSocket();
  explicit NetlinkSocket(int namespace_fd);
  NetlinkSocket(int namespace_fd, int netlink_family);
  // Takes ownership of a socket that OpenNetlinkSocket() has opened.
  static NetlinkSocket Of(int netlink_family, UniqueFd socket);
  // Takes over a socket of the route family that another process has opened and no longer uses.
  // Cancels the socket's subscriptions to messages.
  explicit NetlinkSocket(UniqueFd socket);
  NetlinkSocket(NetlinkSocket&&) noexcept;
  NetlinkSocket& operator=(NetlinkSocket&&) noexcept;
  ~NetlinkSocket();

  // Sends a request and waits for the acknowledgement. Throws SystemError with the kernel's errno;
  // the message is `attempted` and, if the kernel sent one, its explanation.
  void Request(NetlinkMessage& message, std::string_view attempted);
  // Sends a request like Request(), but returns the errno (0: success) instead of throwing.
  int TryRequest(NetlinkMessage& message);
  // Sends a request and calls `each` for every message of the answer (a list or a single object).
  void Query(NetlinkMessage& message, std::string_view attempted,
             const std::function<void(const nlmsghdr*)>& each);

  // Makes this socket read an answer with one system call instead of two, into 64 KiB: the parts of
  // a list are never longer than 32 KiB (netlink_recvmsg() of net/netlink/af_netlink.c), and error
  // messages do not repeat the request.
  void ReadAtOnce();

  nl_sock* get() const { return socket_; }

 private:
  struct Answer;
  struct NotOpen {};
  explicit NetlinkSocket(NotOpen) {}
  void Open(int netlink_family);
  void TakeOver(int netlink_family, UniqueFd socket);
  void Prepare();
  int Exchange(NetlinkMessage& message, Answer* answer);

  nl_sock* socket_ = nullptr;
};

// Opens a socket in the calling thread's namespace and binds its address. NetlinkSocket::Of() makes
// all other settings when the socket is used, so that opening takes only a fifth of the system
// calls. Throws SystemError.
UniqueFd OpenNetlinkSocket(int netlink_family);

}  // namespace viaduct::sys
