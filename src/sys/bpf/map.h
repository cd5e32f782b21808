// Tables of eBPF programs, read and written from user space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace viaduct::bpf {

// Returns the number of processors that this machine may have: an entry of a table "per CPU" has
// one value for each of these processors.
size_t PossibleProcessors();

// One table of an Object, which owns the table's descriptor. The types of keys and values must be
// those that the eBPF program declares. The parameter `doing` begins the text of errors: "store an
// address". Safe from any thread.
class Map {
 public:
  explicit Map(int fd) : fd_(fd) {}

  int fd() const { return fd_; }

  // Adds or replaces an entry. Throws SystemError.
  template <class Key, class Value>
  void Set(const Key& key, const Value& value, std::string_view doing) const {
    Require(TrySet(key, value), doing);
  }
  // Replaces an entry. Throws SystemError, also if there is no such entry.
  template <class Key, class Value>
  void Replace(const Key& key, const Value& value, std::string_view doing) const {
    Require(SetBytes(&key, &value, kOnlyPresent), doing);
  }
  // Adds or replaces an entry. Returns whether that succeeded; if not, errno has the reason.
  template <class Key, class Value>
  bool TrySet(const Key& key, const Value& value) const {
    return SetBytes(&key, &value, 0);
  }
  // Removes an entry. Does nothing if there is no such entry.
  template <class Key>
  void Remove(const Key& key) const {
    RemoveBytes(&key);
  }
  // Returns the value of an entry. Throws SystemError, also if there is no such entry.
  template <class Value, class Key>
  Value Get(const Key& key, std::string_view doing) const {
    Value value{};
    Require(GetBytes(&key, &value, 0), doing);
    return value;
  }
  // Returns the value of an entry that has a bpf_spin_lock; no program changes the value while it
  // is copied. Throws SystemError, also if there is no such entry.
  template <class Value, class Key>
  Value GetLocked(const Key& key, std::string_view doing) const {
    Value value{};
    Require(GetBytes(&key, &value, kLocked), doing);
    return value;
  }

  // Returns the values of an entry of a table "per CPU", one for each of PossibleProcessors().
  // Throws SystemError.
  template <class Value, class Key>
  std::vector<Value> GetEach(const Key& key, std::string_view doing) const {
    static_assert(sizeof(Value) % kAlignment == 0, "the kernel would put padding between values");
    std::vector<Value> values(PossibleProcessors());
    Require(GetBytes(&key, values.data(), 0), doing);
    return values;
  }
  // Stores the same value for each processor in an entry of a table "per CPU". Throws SystemError.
  template <class Key, class Value>
  void SetEach(const Key& key, const Value& value, std::string_view doing) const {
    static_assert(sizeof(Value) % kAlignment == 0, "the kernel would put padding between values");
    const std::vector<Value> values(PossibleProcessors(), value);
    Require(SetBytes(&key, values.data(), 0), doing);
  }

 private:
  static constexpr size_t kAlignment = 8;
  static constexpr uint64_t kOnlyPresent = 2;  // BPF_EXIST of linux/bpf.h
  static constexpr uint64_t kLocked = 4;       // BPF_F_LOCK

  static void Require(bool success, std::string_view doing);
  bool SetBytes(const void* key, const void* value, uint64_t flags) const;
  bool GetBytes(const void* key, void* value, uint64_t flags) const;
  void RemoveBytes(const void* key) const;

  int fd_;
};

}  // namespace viaduct::bpf
