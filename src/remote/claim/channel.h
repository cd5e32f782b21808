// A control connection: lines over TLS over a non-blocking TCP socket.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/wire/address.h"
#include "remote/claim/message.h"
#include "remote/claim/tls.h"
#include "sys/ipc/lines.h"

namespace viaduct::claim {

// The other end has closed the connection, or the network has failed.
class ChannelEnded : public Error {
 public:
  explicit ChannelEnded(const std::string& message) : Error(message) {}
};

class Channel {
 public:
  // A connected socket. `context` must outlive this; `longest`: bytes of a line that may arrive.
  Channel(UniqueFd socket, const TlsContext& context, size_t longest);

  int fd() const { return socket_.get(); }
  // What poll(2) is to look for.
  short Events() const;
  // Both ends have shown that they have the key.
  bool IsOpen() const { return tls_.IsOpen(); }

  // Sends what waits, and returns the lines that have arrived. Throws TlsError, MessageError or
  // ChannelEnded.
  std::vector<std::string> Serve();
  // For an open one; throws ChannelEnded where the other end takes nothing.
  void Send(std::string_view line);
  // Sends what the socket takes at once, and says that this end has nothing more to say.
  void End();
  // All that was to be sent has been.
  bool IsFlushed() const { return output_.empty(); }

 private:
  void Flush();

  UniqueFd socket_;
  TlsSession tls_;
  ipc::LineBuffer lines_;
  std::string output_;
  size_t strange_bytes_ = 0;  // from an end that has not yet shown the key
};

// The address of the socket's other end, or of its own.
wire::IpAddress PeerAddress(int socket);
// Sends small lines at once, and finds a machine that has gone.
void PrepareSocket(int socket);

}  // namespace viaduct::claim
