#include "guest/virtio/guest_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "sys/ipc/descriptor_passing.h"

namespace viaduct::guest {
namespace {

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
  // The timeout of sending to a guest: a guest that does not read must not block the simulation for
  // ever.
  const timeval timeout{30, 0};
  setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  return connection;
}

size_t ReceiveWithDescriptors(int fd, std::span<std::byte> bytes,
                              std::vector<UniqueFd>& descriptors) {
  const ssize_t length = sys::ReceiveWithDescriptors(fd, bytes, descriptors).length;
  if (length < 0 && Gone(errno)) return 0;
  return static_cast<size_t>(SystemCall("receive from a guest", length));
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
  const ssize_t sent = sys::SendWithDescriptors(fd, bytes, descriptors);
  if (sent < 0 && Gone(errno)) return;
  SystemCall("send to a guest", sent);
}

}  // namespace viaduct::guest
