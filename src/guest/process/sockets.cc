#include "guest/process/sockets.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace viaduct::guest {
namespace {

constexpr size_t kMaxDescriptors = 8;

bool Gone(int error_number) { return error_number == EPIPE || error_number == ECONNRESET; }

}  // namespace

UniqueFd ListenIn(const std::filesystem::path& folder, const std::string& name) {
  const UniqueFd directory(SystemCall("open folder " + folder.string(),
                                      open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
  const std::string path = "/proc/self/fd/" + std::to_string(directory.get()) + "/" + name;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw SystemError("socket " + name, ENAMETOOLONG);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  UniqueFd listener(
      SystemCall("socket AF_UNIX", socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
  SystemCall("bind socket " + (folder / name).string(),
             bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
  SystemCall("listen", listen(listener.get(), 1));
  return listener;
}

UniqueFd Accept(const UniqueFd& listener) {
  UniqueFd connection(
      SystemCall("accept a guest", accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)));
  // One that does not read must not block the simulation for ever.
  const timeval patience{30, 0};
  setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  return connection;
}

size_t ReceiveWithDescriptors(int fd, std::span<std::byte> bytes,
                              std::vector<UniqueFd>& descriptors) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control;
  iovec piece{bytes.data(), bytes.size()};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t length = 0;
  do {
    length = recvmsg(fd, &header, MSG_CMSG_CLOEXEC);
  } while (length < 0 && errno == EINTR);
  if (length < 0 && Gone(errno)) return 0;
  SystemCall("receive from a guest", length);
  for (cmsghdr* item = CMSG_FIRSTHDR(&header); item != nullptr; item = CMSG_NXTHDR(&header, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
    for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= item->cmsg_len; at += sizeof(int)) {
      int received = -1;
      std::memcpy(&received, CMSG_DATA(item) + at, sizeof received);
      descriptors.emplace_back(received);
    }
  }
  return static_cast<size_t>(length);
}

void SendAll(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && Gone(errno)) return;
    bytes = bytes.subspan(static_cast<size_t>(SystemCall("send to a guest", sent)));
  }
}

void SendWithDescriptors(int fd, std::span<const std::byte> bytes,
                         std::span<const int> descriptors) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control{};
  iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr* item = CMSG_FIRSTHDR(&header);
  item->cmsg_level = SOL_SOCKET;
  item->cmsg_type = SCM_RIGHTS;
  item->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(item), descriptors.data(), descriptors.size_bytes());
  const ssize_t sent = sendmsg(fd, &header, MSG_NOSIGNAL);
  if (sent < 0 && Gone(errno)) return;
  SystemCall("send to a guest", sent);
}

}  // namespace viaduct::guest
