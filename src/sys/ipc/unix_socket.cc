#include "sys/ipc/unix_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/socket_option.h"

namespace viaduct::sys {
namespace {

constexpr Duration kConnectTimeout = Duration::Seconds(30);

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw UsageError("path too long: " + path);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return address;
}

UniqueFd NewSocket(int type) {
  return UniqueFd(SystemCall("socket AF_UNIX", socket(AF_UNIX, type | SOCK_CLOEXEC, 0)));
}

}  // namespace

UniqueFd ListenAt(const std::string& path, uid_t uid, gid_t gid, int type) {
  UniqueFd listener = NewSocket(type);
  const sockaddr_un address = AddressOf(path);
  unlink(path.c_str());
  SystemCall("bind " + path,
             bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
  SystemCall("chown " + path, chown(path.c_str(), uid, gid));
  SystemCall("chmod " + path, chmod(path.c_str(), 0600));
  SystemCall("listen " + path, listen(listener.get(), 16));
  return listener;
}

UniqueFd ConnectAt(const std::string& path, int type) {
  UniqueFd socket = NewSocket(type);
  const sockaddr_un address = AddressOf(path);
  // Limits the time of connect(), which blocks while many connections wait to be accepted.
  SetSendTimeout(socket.get(), kConnectTimeout);
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EAGAIN)
      throw Error("connect to " + path + ": the server does not accept connections");
    throw SystemError("connect to " + path, errno);
  }
  SetSendTimeout(socket.get(), Duration());
  return socket;
}

}  // namespace viaduct::sys
