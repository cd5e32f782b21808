// Serves a text to Prometheus: GET /metrics over HTTP/1.1 (RFC 9112), and nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/wire/address.h"
#include "sys/event_loop.h"

namespace viaduct::watch {

// Returns the answer to a request, whose head (request line and fields) ends with an empty line.
// `metrics` is called only for a GET of /metrics; if it throws, the answer has status 500.
// `is_loopback`: the request was sent to a loopback address, and so its field Host must be one, or
// localhost. Otherwise another site's page, whose name was changed to this address (DNS rebinding),
// could read the answer.
std::string Respond(std::string_view head, bool is_loopback,
                    const std::function<std::string()>& metrics);

// The server answers any client that can connect, but in this machine's browsers only the user's
// own pages. Each connection has one request, at most 8 kB long and within 5 s; there are at most
// 32. Silent clients keep no other out: the oldest silent connection is closed.
class MetricsServer {
 public:
  // Listens at once; a port of 0: the kernel chooses. The loop must outlive this. Throws
  // SystemError.
  MetricsServer(sys::EventLoop& loop, const wire::IpAddress& address, uint16_t port,
                std::function<std::string()> metrics);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  uint16_t port() const { return port_; }

 private:
  struct Connection {
    UniqueFd socket;
    uint64_t number = 0;
    std::string request, answer;
  };

  void Accept();
  bool MakeRoom();
  void Read(int fd);
  void Write(int fd);
  void Drop(int fd);

  sys::EventLoop& loop_;
  const bool is_loopback_;
  const std::function<std::string()> metrics_;
  UniqueFd listener_;
  uint16_t port_ = 0;
  std::map<int, Connection> connections_;  // the key is the descriptor
  uint64_t last_number_ = 0;
  std::shared_ptr<bool> alive_;  // for the loop's scheduled actions, which cannot be cancelled
};

}  // namespace viaduct::watch
