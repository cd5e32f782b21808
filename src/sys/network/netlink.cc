#include "sys/network/netlink.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <netlink/handlers.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <exception>
#include <utility>

#include "base/error.h"
#include "sys/network/netns.h"

namespace viaduct::sys {
namespace {

void CheckPut(int result) {
  if (result < 0) throw Error("netlink message too long");
}

}  // namespace

uint8_t FamilyOf(const wire::IpAddress& address) {
  return address.family == wire::Family::kIpv4 ? AF_INET : AF_INET6;
}

std::string ExplanationOf(const nlmsgerr* error) {
  const auto* header =
      reinterpret_cast<const nlmsghdr*>(reinterpret_cast<const char*>(error) - NLMSG_HDRLEN);
  if ((header->nlmsg_flags & NLM_F_ACK_TLVS) == 0) return "";
  size_t skip = sizeof *error;
  if ((header->nlmsg_flags & NLM_F_CAPPED) == 0) skip += error->msg.nlmsg_len - NLMSG_HDRLEN;
  skip = NLMSG_ALIGN(skip);
  const size_t payload = header->nlmsg_len - NLMSG_HDRLEN;
  if (payload <= skip) return "";
  const auto* attributes =
      reinterpret_cast<const nlattr*>(reinterpret_cast<const char*>(error) + skip);
  const nlattr* text = nla_find(attributes, static_cast<int>(payload - skip), NLMSGERR_ATTR_MSG);
  return text == nullptr ? "" : std::string(nla_get_string(text));
}

NetlinkMessage::NetlinkMessage(int type, int flags) : message_(nlmsg_alloc_simple(type, flags)) {
  if (message_ == nullptr) throw std::bad_alloc();
}

NetlinkMessage::NetlinkMessage(NetlinkMessage&& other) noexcept
    : message_(std::exchange(other.message_, nullptr)) {}

NetlinkMessage::~NetlinkMessage() {
  if (message_ != nullptr) nlmsg_free(message_);
}

void NetlinkMessage::AppendHeader(const void* data, size_t length) {
  CheckPut(nlmsg_append(message_, const_cast<void*>(data), length, NLMSG_ALIGNTO));
}

void NetlinkMessage::Put(int attribute, const void* data, size_t length) {
  CheckPut(nla_put(message_, attribute, static_cast<int>(length), data));
}

void NetlinkMessage::Put(int attribute, std::string_view text) {
  CheckPut(nla_put_string(message_, attribute, std::string(text).c_str()));
}

void NetlinkMessage::Put(int attribute, const wire::IpAddress& address) {
  Put(attribute, address.bytes.data(), static_cast<size_t>(address.Length()));
}

void NetlinkMessage::PutU8(int attribute, uint8_t value) { Put(attribute, &value, sizeof value); }
void NetlinkMessage::PutU16(int attribute, uint16_t value) { Put(attribute, &value, sizeof value); }
void NetlinkMessage::PutU32(int attribute, uint32_t value) { Put(attribute, &value, sizeof value); }
void NetlinkMessage::PutU64(int attribute, uint64_t value) { Put(attribute, &value, sizeof value); }

void NetlinkMessage::Nest(int attribute, const std::function<void()>& fill) {
  nlattr* start = nla_nest_start(message_, attribute);
  if (start == nullptr) throw Error("netlink message too long");
  fill();
  nla_nest_end(message_, start);
}

// The answer to one request, as libnl's callbacks collect it.
struct NetlinkSocket::Answer {
  const std::function<void(const nlmsghdr*)>* each = nullptr;
  bool done = false;
  int error_number = 0;
  std::string explanation;
  std::exception_ptr
      failure;  // the exception of *each, which must not pass through libnl's stack frames

  static int OnValid(nl_msg* message, void* argument) {
    auto* self = static_cast<Answer*>(argument);
    try {
      if (self->each != nullptr && !self->failure) (*self->each)(nlmsg_hdr(message));
    } catch (...) {
      self->failure = std::current_exception();
    }
    return NL_OK;
  }
  static int OnDone(nl_msg*, void* argument) {
    static_cast<Answer*>(argument)->done = true;
    return NL_STOP;
  }
  static int OnError(sockaddr_nl*, nlmsgerr* error, void* argument) {
    auto* self = static_cast<Answer*>(argument);
    self->done = true;
    self->error_number = -error->error;
    self->explanation = ExplanationOf(error);
    return NL_STOP;
  }
};

void NetlinkSocket::Open(int netlink_family) {
  socket_ = nl_socket_alloc();
  if (socket_ == nullptr) throw std::bad_alloc();
  const int result = nl_connect(socket_, netlink_family);
  if (result < 0) {
    nl_socket_free(std::exchange(socket_, nullptr));
    throw Error(std::string("open a netlink socket: ") + nl_geterror(result));
  }
  Prepare();
}

void NetlinkSocket::Prepare() {
  nl_socket_enable_msg_peek(socket_);
  const int on = 1;
  const int fd = nl_socket_get_fd(socket_);
  setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
  setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
}

NetlinkSocket::NetlinkSocket() { Open(NETLINK_ROUTE); }

NetlinkSocket::NetlinkSocket(int namespace_fd) : NetlinkSocket(namespace_fd, NETLINK_ROUTE) {}

NetlinkSocket::NetlinkSocket(int namespace_fd, int netlink_family) {
  NamespaceScope scope(namespace_fd);
  Open(netlink_family);
}

NetlinkSocket NetlinkSocket::Of(int netlink_family, UniqueFd socket) {
  NetlinkSocket taken{NotOpen()};
  taken.TakeOver(netlink_family, std::move(socket));
  return taken;
}

void NetlinkSocket::TakeOver(int netlink_family, UniqueFd socket) {
  socket_ = nl_socket_alloc();
  if (socket_ == nullptr) throw std::bad_alloc();
  const int result = nl_socket_set_fd(socket_, netlink_family, socket.get());
  if (result < 0) {
    nl_socket_free(std::exchange(socket_, nullptr));
    throw Error(std::string("take over a netlink socket: ") + nl_geterror(result));
  }
  socket.release();
  Prepare();
}

NetlinkSocket::NetlinkSocket(UniqueFd socket) {
  const int fd = socket.get();
  sockaddr_nl address{};
  socklen_t length = sizeof address;
  SystemCall("query a netlink socket",
             getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length));
  address.nl_groups = 0;
  SystemCall("unsubscribe", bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address));
  const int flags = SystemCall("fcntl", fcntl(fd, F_GETFL));
  SystemCall("fcntl", fcntl(fd, F_SETFL, flags & ~O_NONBLOCK));
  std::array<char, 1> old;  // memory for one earlier event; each recv() removes one event
  while (recv(fd, old.data(), old.size(), MSG_DONTWAIT) >= 0 || errno == ENOBUFS) {
  }
  TakeOver(NETLINK_ROUTE, std::move(socket));
}

NetlinkSocket::NetlinkSocket(NetlinkSocket&& other) noexcept
    : socket_(std::exchange(other.socket_, nullptr)) {}

NetlinkSocket& NetlinkSocket::operator=(NetlinkSocket&& other) noexcept {
  std::swap(socket_, other.socket_);
  return *this;
}

NetlinkSocket::~NetlinkSocket() {
  if (socket_ != nullptr) nl_socket_free(socket_);
}

void NetlinkSocket::ReadAtOnce() {
  nl_socket_set_msg_buf_size(socket_, size_t{64} * 1024);
  nl_socket_disable_msg_peek(socket_);
}

int NetlinkSocket::Exchange(NetlinkMessage& message, Answer* answer) {
  const int sent = nl_send_auto(socket_, message.get());
  if (sent < 0) throw Error(std::string("send a netlink request: ") + nl_geterror(sent));
  const std::unique_ptr<nl_cb, void (*)(nl_cb*)> callbacks(nl_cb_alloc(NL_CB_DEFAULT), nl_cb_put);
  if (!callbacks) throw std::bad_alloc();
  nl_cb_set(callbacks.get(), NL_CB_VALID, NL_CB_CUSTOM, Answer::OnValid, answer);
  nl_cb_set(callbacks.get(), NL_CB_ACK, NL_CB_CUSTOM, Answer::OnDone, answer);
  nl_cb_set(callbacks.get(), NL_CB_FINISH, NL_CB_CUSTOM, Answer::OnDone, answer);
  nl_cb_err(callbacks.get(), NL_CB_CUSTOM, Answer::OnError, answer);
  while (!answer->done) {
    const int result = nl_recvmsgs(socket_, callbacks.get());
    // Ignores NLE_DUMP_INTR, which means that a list changed while it was read. The answer is
    // nevertheless read to its end, and has all entries that existed during the complete reading. A
    // caller that follows changes receives an event for each change, and queries the list again.
    if (result < 0 && result != -NLE_DUMP_INTR && !answer->done) {
      throw Error(std::string("receive a netlink answer: ") + nl_geterror(result));
    }
  }
  if (answer->failure) std::rethrow_exception(answer->failure);
  return answer->error_number;
}

void NetlinkSocket::Request(NetlinkMessage& message, std::string_view attempted) {
  Query(message, attempted, [](const nlmsghdr*) {});
}

int NetlinkSocket::TryRequest(NetlinkMessage& message) {
  Answer answer;
  return Exchange(message, &answer);
}

void NetlinkSocket::Query(NetlinkMessage& message, std::string_view attempted,
                          const std::function<void(const nlmsghdr*)>& each) {
  Answer answer;
  answer.each = &each;
  const int error_number = Exchange(message, &answer);
  if (error_number == 0) return;
  std::string what(attempted);
  if (!answer.explanation.empty()) what += " (kernel: " + answer.explanation + ")";
  throw SystemError(what, error_number);
}

UniqueFd OpenNetlinkSocket(int netlink_family) {
  UniqueFd opened(SystemCall("open a netlink socket",
                             socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, netlink_family)));
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  SystemCall("bind a netlink socket",
             bind(opened.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
  return opened;
}

}  // namespace viaduct::sys
