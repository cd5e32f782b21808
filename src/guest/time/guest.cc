#include "guest/time/guest.h"

#include <fmt/core.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "guest/time/shared_schedule.h"
#include "guest/virtio/guest_socket.h"

namespace viaduct::guest {
namespace {

constexpr const char* kCalendarSocket = "c";
// The name of the socket of all devices, to which a guest connects once for each device, in the
// devices' order (virtio_uml_probe() in arch/um/drivers/virtio_uml.c is called for each device in
// the order of the command line).
constexpr const char* kDevicesSocket = "d";
// The maximum wall time until the remaining bytes of a partially received message arrive.
constexpr Duration kRestTimeout = Duration::Seconds(1);

// Waits until one of the descriptors is readable; returns false if `timeout` passes before.
bool PollReadable(std::span<pollfd> entries, Duration timeout) {
  const auto milliseconds = static_cast<int>(timeout.nanoseconds() / 1'000'000);
  int count = 0;
  do {
    count = poll(entries.data(), entries.size(), milliseconds);
  } while (count < 0 && errno == EINTR);
  return SystemCall("poll a guest", count) > 0;
}

// The pause between runs of an embedded guest that waits for an event outside this process.
constexpr Duration kPause = Duration::Milliseconds(1);

}  // namespace

Guest::Guest(uint16_t slot, std::string name, Launcher launcher, DeviceHost& host,
             Receiver receiver)
    : slot_(slot),
      name_(std::move(name)),
      launcher_(std::move(launcher)),
      host_(host),
      receiver_(std::move(receiver)) {}

bool Guest::AwaitReadable(std::span<pollfd> entries, Duration timeout) {
  if (!process_.embedded()) return PollReadable(entries, timeout);
  const Instant deadline = MonotonicClock::Now() + timeout;
  for (Duration pause;; pause = kPause) {
    if (PollReadable(entries, pause)) return true;
    process_.LetRun(true, timeout);
    const bool found = PollReadable(entries, Duration());
    if (found || process_.stuck() || MonotonicClock::Now() >= deadline) return found;
  }
}

Nic& Guest::AddNic(const wire::MacAddress& mac, bool carrier) {
  if (time_listener_) throw Error("a network device was added to a guest that has started");
  return *nics_.emplace_back(std::make_unique<Nic>(host_, nics_.size(), mac, carrier));
}

void Guest::Launch(const std::filesystem::path& folder, const std::filesystem::path& memory) {
  const GuestEndpoints endpoints{folder,          memory,         slot_,
                                 kCalendarSocket, kDevicesSocket, nics_.size()};
  ListenForCalendar(folder, endpoints.calendar);
  ListenForNics(folder, endpoints.devices);
  process_ = launcher_(endpoints);
  console_ = Console(process_.TakeOutput());
  if (console_.fd() >= 0) Watch(console_.fd(), [this] { ReadOutput(); });
}

void Guest::ListenForCalendar(const std::filesystem::path& folder, const std::string& name) {
  time_listener_ = ListenIn(folder, name);
  Watch(time_listener_.get(), [this] {
    if (time_travel_) throw Error("opened a second connection to the calendar");
    time_travel_ = Accept(time_listener_);
    Watch(time_travel_.get(), [this] { ReceiveTimeTravel(); });
  });
}

void Guest::ListenForNics(const std::filesystem::path& folder, const std::string& name) {
  nic_listener_ = ListenIn(folder, name);
  Watch(nic_listener_.get(), [this] { AcceptNic(); });
}

void Guest::AcceptNic() {
  UniqueFd connection = Accept(nic_listener_);
  if (connected_ == nics_.size())
    throw Error(fmt::format("connected more than its {} devices", nics_.size()));
  Nic& nic = *nics_[connected_];
  nic.Connect(std::move(connection), process_.embedded() ? process_.Stream(connected_) : nullptr);
  ++connected_;
  Watch(nic.connection(), [this, &nic] {
    if (nic.Receive()) return;
    Unwatch(nic.connection());
    nic.Disconnect();  // the calendar's connection detects the end of the guest
  });
}

void Guest::ReadOutput() {
  if (console_.Drain()) return;
  Unwatch(console_.fd());
  if (!time_travel_) ThrowFate(" before its first request for the time");
}

void Guest::ThrowFate(const std::string& when) {
  console_.Drain();
  const std::string fate = process_.Fate();
  if (!time_travel_)
    CheckTracing();  // a kernel that is not permitted to trace its processes exits at once
  throw Error(fate + when);
}

void Guest::Watch(int fd, std::function<void()> readable) {
  watched_[fd] = std::move(readable);
  poller_.Add(fd, static_cast<uint64_t>(fd));
}

void Guest::Unwatch(int fd) {
  poller_.Remove(fd);
  watched_.erase(fd);
}

void Guest::DrainKicked(const std::optional<std::vector<uint16_t>>& queues) {
  if (!queues) {
    for (const auto& nic : nics_) nic->DrainTransmits();
    return;
  }
  for (const uint16_t queue : *queues) {
    const size_t device = queue / SharedSchedule::kQueuesPerDevice;
    if (device >= nics_.size())
      throw Error(fmt::format("sent a notification for device {}, which does not exist", device));
    if (queue % SharedSchedule::kQueuesPerDevice == NetBackend::kTxQueue)
      nics_[device]->DrainTransmits();
  }
}

void Guest::ReceiveTimeTravel() {
  std::array<std::byte, sizeof(TimeTravelMessage)> bytes;
  for (size_t have = 0; have < bytes.size();) {
    std::vector<UniqueFd> none;
    std::array entries{pollfd{time_travel_.get(), POLLIN, 0}};
    if (have > 0 && !AwaitReadable(entries, kRestTimeout))
      throw Error("sent an incomplete message");
    const size_t length =
        ReceiveWithDescriptors(time_travel_.get(), std::span(bytes).subspan(have), none);
    if (length == 0) ThrowFate();
    have += length;
  }
  const auto message = ParseTimeTravel(bytes);
  if (!message) throw Error("sent an unknown time-travel operation");
  receiver_(*message);
}

void Guest::Send(TimeTravelOp op, uint32_t sequence, uint64_t time,
                 std::span<const int> descriptors) const {
  const TimeTravelMessage message{static_cast<uint32_t>(op), sequence, time};
  const auto bytes = std::as_bytes(std::span(&message, 1));
  if (descriptors.empty()) return SendAll(time_travel_.get(), bytes);
  SendWithDescriptors(time_travel_.get(), bytes, descriptors);
}

bool Guest::Serve(Duration timeout) {
  const Instant deadline = MonotonicClock::Now() + timeout;
  for (Duration pause;;) {
    const Duration left = deadline - MonotonicClock::Now();
    if (left < Duration() || process_.stuck()) return false;
    if (!process_.embedded()) {
      if (ServeReady(left)) return true;
      continue;  // no event has arrived: possibly a signal
    }
    // Serves the streams first, because most bytes that an embedded guest sends stay in memory.
    const bool again = pause > Duration();
    if (ServeStreams() || (again && ServeReady(pause))) return true;
    process_.LetRun(again, timeout);
    if (ServeStreams() || ServeReady(Duration())) return true;
    pause = kPause;
  }
}

bool Guest::ServeStreams() {
  bool any = false;
  for (; const auto number = process_.TakeRequest(); any = true) {
    while (connected_ <= *number) AcceptNic();
    nics_[*number]->ReceiveFromStream();
  }
  return any;
}

bool Guest::ServeReady(Duration timeout) {
  const Poller::Ready ready = poller_.Wait(timeout);
  for (const epoll_event& event : ready) {
    // Skips a descriptor that a previous handler has removed from the watched descriptors.
    const auto found = watched_.find(static_cast<int>(event.data.u64));
    if (found == watched_.end()) continue;
    const auto handler = found->second;
    handler();
  }
  return !ready.empty();
}

bool Guest::ServeTimeTravel(Duration timeout) {
  std::array entries{pollfd{time_travel_.get(), POLLIN, 0}};
  if (!AwaitReadable(entries, timeout)) return false;
  ReceiveTimeTravel();
  return true;
}

void Guest::Interrupt(int channel, std::span<const std::byte> request, Duration timeout) {
  SendAll(channel, request);
  std::array entries{pollfd{channel, POLLIN, 0}, pollfd{time_travel_.get(), POLLIN, 0}};
  do {
    if (!AwaitReadable(entries, timeout)) throw Error("does not answer an interrupt");
    if (entries[1].revents != 0) ReceiveTimeTravel();
  } while (entries[1].revents != 0 || entries[0].revents == 0);
  std::array<std::byte, sizeof(VhostHeader) + sizeof(uint64_t)> answer;
  std::vector<UniqueFd> none;
  const size_t length = ReceiveWithDescriptors(channel, answer, none);
  if (length == 0) ThrowFate();
  uint64_t refused = 1;
  if (length == answer.size()) {
    std::memcpy(&refused, answer.data() + sizeof(VhostHeader), sizeof refused);
  }
  if (refused != 0) throw Error("answered an interrupt with an error");
}

}  // namespace viaduct::guest
