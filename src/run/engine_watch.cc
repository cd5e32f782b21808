#include "run/engine_watch.h"

#include <sys/socket.h>

#include "base/error.h"
#include "engine/control.h"
#include "sys/unix_socket.h"

namespace viaduct::run {

EngineWatch::EngineWatch(std::string socket_path, sys::EventLoop& loop)
    : socket_path_(std::move(socket_path)),
      loop_(loop),
      alive_(sys::ConnectAt(socket_path_, SOCK_STREAM)) {
  loop_.Watch(alive_.get(), [] {
    throw Error("the path engine died, so links with a SPEC carry nothing any more; run it again");
  });
}

EngineWatch::~EngineWatch() { loop_.Forget(alive_.get()); }

result::EngineResult EngineWatch::Read() const {
  return engine::Ask(socket_path_, {}).at("stats").get<result::EngineResult>();
}

void EngineWatch::Set(const std::string& pair, const std::string& up,
                      const std::string& down) const {
  engine::ControlRequest request;
  request.kind = engine::ControlRequest::Kind::kSet;
  request.pair = pair;
  if (!up.empty()) request.up = up;
  if (!down.empty()) request.down = down;
  engine::Ask(socket_path_, request);
}

}  // namespace viaduct::run
