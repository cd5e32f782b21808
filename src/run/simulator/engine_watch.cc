#include "run/simulator/engine_watch.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "lab/record.h"
#include "path/engine/control.h"
#include "sys/ipc/unix_socket.h"

namespace viaduct::run {

EngineWatch::EngineWatch(std::string socket_path, sys::EventLoop& loop)
    : socket_path_(std::move(socket_path)),
      loop_(loop),
      alive_(sys::ConnectAt(socket_path_, SOCK_STREAM)) {
  loop_.Watch(alive_.get(), [this] {
    throw Error(
        fmt::format("the path engine exited ({}): links with a SPEC no longer forward packets; run "
                    "the scenario again",
                    CauseOfDeath()));
  });
}

EngineWatch::~EngineWatch() { loop_.Forget(alive_.get()); }

std::string EngineWatch::CauseOfDeath() const {
  const std::filesystem::path folder = std::filesystem::path(socket_path_).parent_path();
  for (const lab::RunInfo& run : lab::ListRuns()) {
    if (run.name == folder.filename() && !run.alive) return "its broker exited, too";
  }
  try {
    std::string words = ReadFile(folder / lab::kLastWordsFile);
    const size_t line = words.find('\n');
    if (line != std::string::npos) words.resize(line);
    return words.empty() ? "killed" : words;
  } catch (const Error&) {
    return "the lab no longer exists";
  }
}

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
