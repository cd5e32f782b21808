// A DPDK device as a port (port/port.h).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "port/dpdk/device.h"
#include "port/dpdk/driver/flight.h"
#include "port/dpdk/driver/hold.h"
#include "port/interface_watch.h"
#include "port/port.h"

namespace viaduct::dpdk {

// A port on a DPDK device.
//  - One thread receives; the same or a second thread sends and calls BytesInFlight().
//  - For net_af_packet, fd() and TransmitFd() refer to its packet socket. For other devices fd() is
//    always readable: the caller must poll the port, as DPDK programs do.
//  - `received` is the driver's time stamp if it is from the kernel's clock (net_af_packet of DPDK
//    23 and later), else 0: a stamp made by the port would hide how long a frame has waited.
//  - BytesInFlight() is exact for net_af_packet, and for drivers that release buffers on request
//    (rte_eth_tx_done_cleanup()); 0 for other drivers.
//  - A frame in several buffers is copied into one. Frames longer than the MTU with two VLAN tags
//    are dropped and counted, including frames that the kernel has combined (net_af_packet).
class Port final : public io::AnyPort {
 public:
  // Opens a device. Must be called in the interface's network namespace. Throws Error.
  explicit Port(Device device);
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;
  ~Port() override;

  size_t Receive(std::span<io::ReceivedFrame> frames) override;
  size_t Transmit(std::span<const io::FrameToSend> frames) override;
  std::span<const uint32_t> Refused() const override { return refused_; }
  size_t BytesInFlight() override;
  int TransmitFd() override { return transmit_fd_ ? transmit_fd_.get() : -1; }
  int fd() override { return fd_.get(); }
  io::PortCounters Counters() override;
  uint32_t Mtu() const override { return mtu_; }
  bool Up() override;
  std::string Description() const override;

 private:
  static constexpr size_t kBurst = 64, kLentAtMost = 256;

  // Adds the port to the interfaces in use. Returns false if another port uses the interface.
  bool Enter();
  void Leave();
  void Open(const Device& device);
  void Configure(const Device& device, int socket);
  void TakeSocket(const Device& device, int socket, uint32_t slots);
  void ReturnLent();
  bool Describe(rte_mbuf* buffer, io::ReceivedFrame* frame);
  std::span<std::byte> Bytes(rte_mbuf* buffer);
  void ClearError();
  bool Takes(io::FrameToSend frame) const;
  void Poll();
  size_t Flush(std::span<const io::FrameToSend> frames);
  void Refuse(size_t index);

  using Counter = std::atomic<uint64_t>;
  static void Count(Counter& counter, uint64_t n) {
    counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }

  std::shared_ptr<void> keeper_;  // the first member, so it is destroyed last
  std::string name_, driver_;
  int ifindex_;
  uint32_t mtu_;
  size_t longest_;
  UniqueFd control_;
  Pool received_, sent_;  // declared before device_, so destroyed after device_
  std::optional<Probed> device_;
  UniqueFd fd_, transmit_fd_;
  bool is_packet_socket_ = false;
  std::optional<io::InterfaceWatch> watch_;
  int64_t looked_ = 0;  // time of the last check of is_down_; only for a DPDK device
  bool is_down_ = false;
  std::optional<RingFlight> ring_flight_;
  std::optional<BufferFlight> buffer_flight_;
  int stamp_offset_ = -1;
  uint64_t stamp_flag_ = 0;

  std::array<rte_mbuf*, kLentAtMost> lent_{};
  uint16_t lent_count_ = 0;
  uint32_t empty_polls_ = 0;
  std::vector<std::vector<std::byte>> gathered_;
  size_t gathered_count_ = 0;
  std::vector<uint32_t> refused_;
  Counter ring_full_ = 0, put_into_ring_ = 0;
  struct alignas(64) {
    Counter frames = 0, bytes = 0, dropped_truncated = 0;
  } rx_;
  struct alignas(64) {
    Counter frames = 0, bytes = 0, dropped_error = 0;
  } tx_;
};

}  // namespace viaduct::dpdk
