#include "guest/agent/state_client.h"

#include <linux/tcp.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

namespace viaduct::guest {
namespace {

// Removes and returns the front of `text` up to the next character of `separators`, and removes the
// separators that follow.
std::string_view TakeWord(std::string_view& text, std::string_view separators) {
  const std::string_view word = text.substr(0, text.find_first_of(separators));
  text.remove_prefix(word.size());
  text.remove_prefix(std::min(text.find_first_not_of(separators), text.size()));
  return word;
}

template <class T>
bool Parses(std::string_view word, T& value) {
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  return error == std::errc() && stop == end;
}

int64_t Number(std::string_view word) {
  int64_t value = 0;
  if (Parses(word, value)) return value;
  uint64_t large = 0;  // counters are unsigned 64-bit numbers, but limits may be -1
  if (Parses(word, large)) return static_cast<int64_t>(large);
  throw agent::ProtocolError("counter that is not a number: " + std::string(word));
}

// Adds the counters in a line of names, "Tcp: A B", and a line of values, "Tcp: 1 2".
void ParsePair(std::string_view names, std::string_view values, Counters& counters) {
  const std::string prefix(TakeWord(names, ": "));
  if (TakeWord(values, ": ") != prefix) throw agent::ProtocolError("counters without values");
  while (!names.empty()) {
    if (values.empty()) throw agent::ProtocolError("counter without a value");
    counters[prefix + std::string(TakeWord(names, " "))] = Number(TakeWord(values, " "));
  }
}

::tcp_info InfoOf(std::span<const std::byte> bytes) {
  ::tcp_info info{};
  std::memcpy(&info, bytes.data(), std::min(bytes.size(), sizeof info));
  return info;
}

}  // namespace

void ParseCounters(std::string_view text, Counters& counters) {
  while (!text.empty()) {
    std::string_view line = TakeWord(text, "\n");
    if (line.find(':') != std::string_view::npos) {
      ParsePair(line, TakeWord(text, "\n"), counters);
    } else {
      const std::string name(TakeWord(line, " \t"));
      counters[name] = Number(TakeWord(line, " \t"));
    }
  }
}

StateClient::StateClient(AgentClient& agent) : agent_(agent) {
  const auto handle = [&](agent::Code code, auto take) {
    agent_.SetEventHandler(code,
                           [weak = std::weak_ptr(asked_), take](const agent::Operation& operation) {
                             const auto asked = weak.lock();
                             if (!asked) return;
                             const auto found = asked->find(operation.request);
                             if (found != asked->end()) take(found->second, operation);
                           });
  };
  handle(agent::kTcpState, [](Pending& pending, const agent::Operation& operation) {
    if (!pending.sink.tcp) return;
    const auto state = operation.As<agent::TcpState>();
    pending.sink.tcp(state, InfoOf(operation.After(sizeof state)));
  });
  handle(agent::kQdiscState, [](Pending& pending, const agent::Operation& operation) {
    if (pending.sink.qdisc) pending.sink.qdisc(operation.As<agent::QdiscState>());
  });
  handle(agent::kCounterState, [](Pending& pending, const agent::Operation& operation) {
    ParseCounters(operation.Text(), pending.counters);
  });
}

void StateClient::Sample(uint32_t node, StateSink sink) {
  const uint32_t what = (sink.tcp ? agent::kSampleTcp : 0) |
                        (sink.qdisc ? agent::kSampleQdiscs : 0) |
                        (sink.counters ? agent::kSampleCounters : 0);
  if (what == 0) return;
  auto request = std::make_shared<uint32_t>(0);
  *request = agent_.Ask(
      agent::kSampleState, node, {agent::BytesOf(what)},
      [this, weak = std::weak_ptr(asked_), request, node](const AgentClient::Answer& answer) {
        const auto asked = weak.lock();
        if (!asked) return;
        const auto found = asked->find(*request);
        if (found == asked->end()) return;
        const Pending pending = std::move(found->second);
        asked->erase(found);
        if (answer.error_number != 0) {
          agent_.ReportFailure(node, agent::kSampleState, answer.words);
          return;
        }
        if (pending.sink.counters) pending.sink.counters(pending.counters);
        if (pending.sink.done) pending.sink.done();
      });
  (*asked_)[*request] = {std::move(sink), {}};
}

}  // namespace viaduct::guest
