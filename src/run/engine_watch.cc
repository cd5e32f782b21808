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

}  // namespace viaduct::run
