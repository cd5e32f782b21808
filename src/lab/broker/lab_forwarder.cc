#include "lab/broker/lab_forwarder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/wait_status.h"
#include "lab/broker/lab_process.h"
#include "plane/forward/forwarder.h"
#include "plane/forward/program_watch.h"
#include "sys/descriptors.h"
#include "sys/signals.h"

namespace viaduct::broker {
namespace {

// Returns the forwarder's error messages that are in the pipe, as one line; empty if there are no
// messages.
std::string ReadWords(int pipe) {
  std::array<char, 500> bytes{};
  const ssize_t count = read(pipe, bytes.data(), bytes.size());
  std::string words(bytes.data(), static_cast<size_t>(std::max<ssize_t>(count, 0)));
  while (words.ends_with('\n')) words.pop_back();
  std::ranges::replace(words, '\n', ' ');
  return words;
}

// Runs the forwarder until SIGTERM or SIGINT.
void Forward(std::vector<forward::Equipment> equipment, const std::function<void()>& ready) {
  const UniqueFd signals = sys::CatchSignals({SIGTERM, SIGINT});
  forward::Forwarder forwarder(std::move(equipment));
  ready();
  forwarder.Run(signals.get());
}

}  // namespace

LabForwarder::LabForwarder(lab::Lab& lab, const sys::Identity& owner, Nodes nodes, int asker)
    : lab_(lab), owner_(owner), nodes_(std::move(nodes)) {
  Start(asker);
}

void LabForwarder::Start(int asker) {
  LabProcess process{"viaduct-forward", "forwarder", -1, {}, {}};
  sys::Pipe words = sys::MakePipe();
  SystemCall("fcntl", fcntl(words.read.get(), F_SETFL, O_NONBLOCK));
  process.words = words.write.get();
  process.asker = asker;
  process.runs_users_code = std::ranges::any_of(
      nodes_, [](const auto& node) { return forward::IsProgramLibrary(node.second.program.name); });
  std::vector<forward::Equipment> equipment;
  for (const auto& [name, shared] : nodes_) {
    process.namespace_fd = lab_.NamespaceFd(name);
    equipment.push_back(forward::Equip(name, process.namespace_fd, shared));
    Keep(equipment.back());
    const std::vector<int> descriptors = equipment.back().Descriptors();
    process.keep.insert(process.keep.end(), descriptors.begin(), descriptors.end());
  }
  try {
    pid_ = StartLabProcess(process, owner_, [&](const std::function<void()>& ready) {
      if (process.runs_users_code) forward::ProgramWatch::Start(process.words);
      Forward(std::move(equipment), ready);
    });
  } catch (const Error& error) {
    const std::string said = ReadWords(words.read.get());
    if (said.empty()) throw;
    throw Error(fmt::format("{} ({})", error.what(), said), error.status());
  }
  words_ = std::move(words.read);
  ended.reset();
}

std::string LabForwarder::LastWords() {
  if (!ended) return last_words_;
  if (std::string words = ReadWords(words_.get()); !words.empty()) {
    last_words_ = std::move(words);
  } else if (last_words_.empty()) {
    last_words_ = DescribeEnding(*ended);
  }
  return last_words_;
}

void LabForwarder::Keep(const forward::Equipment& equipment) {
  for (size_t i = 0; i < equipment.ports.size(); ++i) {
    ports_[equipment.name].push_back(
        {equipment.ports[i].mac, sys::Duplicate(equipment.sockets[i].fd.get())});
  }
}

void LabForwarder::Refilter(const std::string& node) {
  const auto ports = ports_.find(node);
  if (ports == ports_.end()) return;
  const std::vector<sys::InterfaceAddress> own = lab_.NetlinkOf(node).Addresses();
  for (const Port& port : ports->second) {
    forward::SetFilter(nodes_.at(node).program, port.mac, own, port.socket.get());
  }
}

// Records the forwarder's history for `viaduct ls`. Stops after a number of restarts, because a
// forwarder that fails with every frame must not fill the record.
void LabForwarder::Record(bool absent) {
  constexpr int kRecorded = 100;
  if (restarts_ > kRecorded) return;
  try {
    lab_.RecordForwarder({restarts_, absent, last_words_});
  } catch (const Error&) {  // `viaduct ls` will not show the history
  }
}

// Closes the sockets of the ended forwarder in a thread: the kernel takes some 20 ms to close a
// packet socket (packet_release(), synchronize_net()), and neither the new forwarder nor the broker
// should wait for the closing.
void LabForwarder::Restart() {
  ++restarts_;
  LastWords();
  Record(true);
  Ports old = std::exchange(ports_, {});
  try {
    Start(-1);  // -1: no client waits for this start
  } catch (const Error& error) {
    last_words_ = error.what();
    Record(true);
    throw;
  }
  Record(false);
  closing_ = std::jthread([old = std::move(old)]() mutable { old.clear(); });
}

}  // namespace viaduct::broker
