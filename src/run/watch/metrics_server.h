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

// The answer to a request, whose head (request line and fields) ends with an empty line. `metrics`
// is called for a GET of /metrics alone; what it throws is answered with status 500. `is_loopback`:
// the request came to a loopback address, and so its field Host must be one, or localhost. Another
// site's page, whose name leads here all of a sudden (DNS rebinding), could read the answer else.
std::string Respond(std::string_view head, bool is_loopback,
                    const std::function<std::string()>& metrics);

// Whoever can connect may read, of this machine's browsers none but the user's own pages. Each
// connection has one request, at most 8 kB long and within 5 s; there are at most 32. Who connects
// and says nothing is in nobody's way: the oldest such goes.
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
  std::map<int, Connection> connections_;  // by descriptor
  uint64_t last_number_ = 0;
  std::shared_ptr<bool> alive_;  // for actions of the loop, which cannot be taken back
};

}  // namespace viaduct::watch
