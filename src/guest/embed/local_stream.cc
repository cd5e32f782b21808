#include "guest/embed/local_stream.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace viaduct::embed {

void LocalStream::Bytes::Add(std::span<const std::byte> bytes) {
  if (empty()) {
    bytes_.clear();
    taken_ = 0;
  }
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

size_t LocalStream::Bytes::Take(std::span<std::byte> bytes) {
  const size_t count = std::min(bytes.size(), bytes_.size() - taken_);
  std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(taken_), count, bytes.begin());
  taken_ += count;
  return count;
}

ssize_t LocalStream::Send(const msghdr& message) {
  std::vector<UniqueFd> passed;
  auto* all = const_cast<msghdr*>(&message);  // CMSG_NXTHDR() needs a pointer to a non-const msghdr
  for (cmsghdr* part = CMSG_FIRSTHDR(all); part != nullptr; part = CMSG_NXTHDR(all, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= part->cmsg_len; at += sizeof(int)) {
      int given = -1;
      std::memcpy(&given, CMSG_DATA(part) + at, sizeof given);
      UniqueFd own(fcntl(given, F_DUPFD_CLOEXEC, 0));
      if (!own) return -1;
      passed.push_back(std::move(own));
    }
  }
  size_t length = 0;
  for (size_t i = 0; i < message.msg_iovlen; ++i) {
    const iovec& piece = message.msg_iov[i];
    to_simulator_.Add({static_cast<const std::byte*>(piece.iov_base), piece.iov_len});
    length += piece.iov_len;
  }
  std::move(passed.begin(), passed.end(), std::back_inserter(descriptors_));
  return static_cast<ssize_t>(length);
}

size_t LocalStream::Take(std::span<std::byte> bytes, std::vector<UniqueFd>& descriptors) {
  std::move(descriptors_.begin(), descriptors_.end(), std::back_inserter(descriptors));
  descriptors_.clear();
  return to_simulator_.Take(bytes);
}

}  // namespace viaduct::embed
