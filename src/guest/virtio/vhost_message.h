// The messages of the vhost-user protocol (QEMU docs/interop/vhost-user.rst) that User Mode Linux's
// virtio_uml uses (arch/um/drivers/vhost_user.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace viaduct::guest {

enum class VhostRequest : uint32_t {
  kGetFeatures = 1,
  kSetFeatures = 2,
  kSetOwner = 3,
  kResetOwner = 4,
  kSetMemTable = 5,
  kSetVringNum = 8,
  kSetVringAddr = 9,
  kSetVringBase = 10,
  kGetVringBase = 11,
  kSetVringKick = 12,
  kSetVringCall = 13,
  kSetVringErr = 14,
  kGetProtocolFeatures = 15,
  kSetProtocolFeatures = 16,
  kSetVringEnable = 18,
  kSetSlaveRequestFd = 21,
  kGetConfig = 24,
  kSetConfig = 25,
  kVringKick = 35,  // a notification of a queue in a message
};

// Requests of the back end to the guest, on the channel that kSetSlaveRequestFd passes.
enum class VhostSlaveRequest : uint32_t { kConfigChange = 2, kVringCall = 4 };

struct VhostHeader {
  uint32_t request;
  uint32_t flags;
  uint32_t size;  // the size of the payload in bytes
};
static_assert(sizeof(VhostHeader) == 12);

inline constexpr uint32_t kVhostVersion = 1;  // the value of the flags' bits kVhostVersionMask
inline constexpr uint32_t kVhostVersionMask = 3;
inline constexpr uint32_t kVhostReply = 4;
inline constexpr uint32_t kVhostNeedReply = 8;
inline constexpr size_t kMaxVhostPayload = 1024;
inline constexpr size_t kMaxVhostDescriptors = 8;  // one for each memory region

// The payloads of messages; their layout has no padding.
struct VringState {
  uint32_t index;
  uint32_t value;
};
struct VringAddresses {
  uint32_t index;
  uint32_t flags;
  uint64_t descriptors;
  uint64_t used;
  uint64_t available;
  uint64_t log;
};
struct MemoryRegion {
  uint64_t guest_address;
  uint64_t size;
  uint64_t user_address;
  uint64_t file_offset;
};
struct ConfigHeader {
  uint32_t offset;
  uint32_t size;
  uint32_t flags;
};
static_assert(sizeof(VringAddresses) == 40 && sizeof(MemoryRegion) == 32 &&
              sizeof(ConfigHeader) == 12);

struct VhostMessage {
  VhostHeader header;
  std::vector<std::byte> payload;
  std::vector<UniqueFd> descriptors;

  // Returns the payload as a T; throws Error if the payload is shorter than a T.
  template <typename T>
  T As() const {
    T value;
    CopyPayload(&value, sizeof value);
    return value;
  }

 private:
  void CopyPayload(void* to, size_t size) const;
};

std::string_view Name(VhostRequest request);

// Returns the bytes of a message with the given header fields and payload.
std::vector<std::byte> EncodeVhost(uint32_t request, uint32_t flags,
                                   std::span<const std::byte> payload);

// Splits a byte stream into messages.
class VhostAssembler {
 public:
  // Adds received bytes and the descriptors that were received with them; the descriptors belong to
  // the first message that ends after this call. Throws Error if the descriptors are more than a
  // message can have.
  void Add(std::span<const std::byte> bytes, std::vector<UniqueFd> descriptors);
  // Returns the next complete message, nullopt if there is none; throws Error if the version or
  // size of the message is invalid.
  std::optional<VhostMessage> Next();

 private:
  std::vector<std::byte> bytes_;
  std::vector<UniqueFd> descriptors_;
};

}  // namespace viaduct::guest
