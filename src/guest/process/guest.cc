#include "guest/process/guest.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/error.h"
#include "guest/process/sockets.h"
#include "guest/time/calendar.h"

namespace viaduct::guest {
namespace {

int Milliseconds(Duration duration) { return static_cast<int>(duration.nanoseconds() / 1000000); }

}  // namespace

Guest::Guest(Calendar& calendar, uint16_t slot, std::string name, Launcher launcher)
    : calendar_(calendar),
      slot_(slot),
      name_(std::move(name)),
      launcher_(std::move(launcher)),
      epoll_(SystemCall("epoll_create1", epoll_create1(EPOLL_CLOEXEC))) {}

Guest::~Guest() = default;

Nic& Guest::AddNic(const wire::MacAddress& mac, bool carrier) {
  if (!listeners_.empty()) throw Error("a network device for a guest that has started");
  return *nics_.emplace_back(std::make_unique<Nic>(*this, nics_.size(), mac, carrier));
}

void Guest::Launch(const std::filesystem::path& folder) {
  GuestEndpoints endpoints{folder, slot_, "c", {}};
  UniqueFd calendar = ListenIn(folder, endpoints.calendar);
  Watch(calendar.get(), [this, fd = calendar.get()] {
    for (UniqueFd& listener : listeners_) {
      if (listener.get() == fd) return AcceptCalendar(listener);
    }
  });
  listeners_.push_back(std::move(calendar));
  for (const auto& nic : nics_) {
    endpoints.devices.push_back(nic->name());
    UniqueFd listener = ListenIn(folder, nic->name());
    const size_t index = listeners_.size();
    Watch(listener.get(), [this, index, &nic = *nic] { nic.Connect(Accept(listeners_[index])); });
    listeners_.push_back(std::move(listener));
  }
  process_ = launcher_(endpoints);
  console_ = Console(process_.TakeOutput());
  if (console_.fd() >= 0) Watch(console_.fd(), [this] { ReadOutput(); });
}

void Guest::AcceptCalendar(const UniqueFd& listener) {
  if (time_travel_) throw Error("a second connection to the calendar");
  time_travel_ = Accept(listener);
  Watch(time_travel_.get(), [this] { ReceiveTimeTravel(); });
}

void Guest::ReadOutput() {
  if (console_.Drain()) return;
  Unwatch(console_.fd());
  if (!time_travel_) ThrowFate(" before it asked for the time");
}

void Guest::ThrowFate(const std::string& when) {
  console_.Drain();
  const std::string fate = process_.Fate();
  if (calendar_.booting()) CheckTracing();
  throw Error(fate + when);
}

void Guest::Watch(int fd, std::function<void()> readable) {
  watched_[fd] = std::move(readable);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  SystemCall("epoll_ctl add", epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event));
}

void Guest::Unwatch(int fd) {
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  watched_.erase(fd);
}

Instant Guest::Present() const { return calendar_.Present(); }

void Guest::Schedule(Instant at, std::function<void()> action) {
  calendar_.Schedule(at, std::move(action));
}

void Guest::Interrupt(int channel, std::span<const std::byte> request) {
  calendar_.Interrupt(*this, channel, request);
}

bool Guest::Call(const Nic& nic, uint32_t queue) {
  const auto name = SharedSchedule::QueueName(nic.number(), queue);
  if (!shares_queues_ || !name) return false;
  calendar_.Call(*this, *name);
  return true;
}

void Guest::DrainKicked(const std::optional<std::vector<uint16_t>>& queues) {
  if (!queues) {
    for (const auto& nic : nics_) nic->DrainTransmits();
    return;
  }
  for (const uint16_t queue : *queues) {
    const size_t device = queue / SharedSchedule::kQueuesPerDevice;
    if (device >= nics_.size())
      throw Error(fmt::format("kicked device {}, which it has not", device));
    if (queue % SharedSchedule::kQueuesPerDevice == NetBackend::kTxQueue)
      nics_[device]->DrainTransmits();
  }
}

void Guest::ReceiveTimeTravel() {
  std::array<std::byte, sizeof(TimeTravelMessage)> bytes;
  for (size_t have = 0; have < bytes.size();) {
    std::vector<UniqueFd> none;
    pollfd entry{time_travel_.get(), POLLIN, 0};
    if (have > 0 && poll(&entry, 1, 1000) <= 0) throw Error("sent a part of a message");
    const size_t length =
        ReceiveWithDescriptors(time_travel_.get(), std::span(bytes).subspan(have), none);
    if (length == 0) ThrowFate();
    have += length;
  }
  const auto message = ParseTimeTravel(bytes);
  if (!message) throw Error("sent an operation that time travel does not have");
  calendar_.Handle(*this, *message);
}

void Guest::Send(TimeTravelOp op, uint32_t sequence, uint64_t time) const {
  const TimeTravelMessage message{static_cast<uint32_t>(op), sequence, time};
  SendAll(time_travel_.get(), std::as_bytes(std::span(&message, 1)));
}

bool Guest::ServeOnce(Duration patience) {
  std::array<epoll_event, 8> events;
  int count = 0;
  do {
    count = epoll_wait(epoll_.get(), events.data(), events.size(), Milliseconds(patience));
  } while (count < 0 && errno == EINTR);
  SystemCall("epoll_wait", count);
  if (count > 0) calendar_.NoteMode(*this);
  for (int i = 0; i < count; ++i) {
    // A handler before may have closed it.
    const auto found = watched_.find(events[i].data.fd);
    if (found == watched_.end()) continue;
    const auto handler = found->second;
    handler();
  }
  return count > 0;
}

bool Guest::AwaitTimeTravel(Duration patience) {
  pollfd entry{time_travel_.get(), POLLIN, 0};
  int count = 0;
  do {
    count = poll(&entry, 1, Milliseconds(patience));
  } while (count < 0 && errno == EINTR);
  if (SystemCall("poll a guest", count) == 0) return false;
  ReceiveTimeTravel();
  return true;
}

bool Guest::AwaitAnswer(int channel, Duration patience) {
  std::array<pollfd, 2> entries{pollfd{channel, POLLIN, 0}, pollfd{time_travel_.get(), POLLIN, 0}};
  for (;;) {
    const int count = poll(entries.data(), entries.size(), Milliseconds(patience));
    if (count < 0 && errno == EINTR) continue;
    if (SystemCall("poll a guest", count) == 0) return false;
    if (entries[1].revents != 0) {
      ReceiveTimeTravel();
    } else if (entries[0].revents != 0) {
      return true;
    }
  }
}

}  // namespace viaduct::guest
