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

// Thrown if the peer has closed the connection, or the network has failed.
class ChannelEnded : public Error {
 public:
  explicit ChannelEnded(const std::string& message) : Error(message) {}
};

class Channel {
 public:
  // `socket` must be connected. `context` must outlive this object. `longest`: the maximum number
  // of bytes in a received line.
  Channel(UniqueFd socket, const TlsContext& context, size_t longest);

  int fd() const { return socket_.get(); }
  // Returns the events to wait for with poll(2).
  short Events() const;
  // Whether both ends have shown that they have the key.
  bool IsOpen() const { return tls_.IsOpen(); }

  // Sends the waiting bytes, and returns the lines that have arrived. Throws TlsError, MessageError
  // or ChannelEnded.
  std::vector<std::string> Serve();
  // Sends a line; the channel must be open. Throws ChannelEnded if the peer does not read.
  void Send(std::string_view line);
  // Sends as many waiting bytes as the socket takes without blocking, and ends the sending
  // direction of this end.
  void End();
  // Whether all bytes have been sent.
  bool IsFlushed() const { return output_.empty(); }

 private:
  void Flush();

  UniqueFd socket_;
  TlsSession tls_;
  ipc::LineBuffer lines_;
  std::string output_;
  size_t unauthenticated_bytes_ = 0;  // bytes from a peer that has not yet shown the key
};

// Returns the address of the socket's peer.
wire::IpAddress PeerAddress(int socket);
// Makes the socket non-blocking, and makes it send small lines at once (TCP_NODELAY).
void PrepareSocket(int socket);

}  // namespace viaduct::claim
