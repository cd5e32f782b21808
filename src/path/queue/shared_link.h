// A link that several pipelines share: their packets wait in one queue and contend for one rate.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "path/queue/bottleneck.h"
#include "path/queue/queue_spec.h"

namespace viaduct::path {

// All users and their calls are of one thread, and `now` must not decrease between the calls of all
// of them. A user defines the rate and the queue; before it does, there is no limit. Others may
// give the same definition, but then it cannot be changed any more.
class SharedLink final : private DropSink {
 public:
  // The functions of a pipeline that receive its packets from the link.
  class User {
   public:
    virtual ~User() = default;
    // Receives a packet whose last bit has left, at packet.ready.
    virtual void Left(const Packet& packet) = 0;
    virtual void Dropped(const Packet& packet, Fate cause, Instant at) = 0;
  };

  explicit SharedLink(std::string name);

  // Adds a user, which must remain until the last call; returns its number.
  uint32_t Join(User* user);
  // Throws UsageError if the user may not give this definition (a link without a rate: none).
  void Check(uint32_t user, const LinkSpec& link, const QueueSpec& queue) const;
  // Installs the user's definition, made of `link` and `queue` (null: unchanged); the first
  // definition needs both. Packets that wait already leave at the new rate.
  void Define(uint32_t user, const LinkSpec& link, const QueueSpec& queue,
              std::unique_ptr<RateServer> server, std::unique_ptr<QueueDiscipline> discipline,
              Instant now);
  // The user gives no definition any more: if it did, what waits leaves at once.
  void Undefine(uint32_t user, Instant now);
  bool IsDefined() const { return !definers_.empty(); }

  // The path begins to exist (Bottleneck::Begin).
  void Begin(Instant now);
  // Takes a packet; Advance(now) must have been called before.
  void Push(uint32_t user, Packet packet, Instant now);
  // Performs what happens until `now`.
  void Advance(uint32_t user, Instant now);
  // Returns the instant at which Advance() has something to do; Never for all users but the last
  // caller.
  Instant NextEventOf(uint32_t user) const {
    return user == caller_ ? bottleneck_.NextEvent() : Instant::Never();
  }
  Instant NextEvent() const { return bottleneck_.NextEvent(); }
  bool Stalled() const { return bottleneck_.Stalled(); }

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;
  void Drop(const Packet& packet, Fate cause, Instant at) override;
  void Install(std::unique_ptr<RateServer> server, std::unique_ptr<QueueDiscipline> discipline,
               Instant now);

  std::string name_;
  std::vector<User*> users_;
  Bottleneck bottleneck_;
  std::set<uint32_t> definers_;
  LinkSpec link_;  // the link that the users in definers_ defined
  QueueSpec queue_;
  uint32_t caller_ = kNobody;
  bool begun_ = false;
};

// The shared links of one thread, by name.
class SharedLinks {
 public:
  SharedLink& Of(const std::string& name);
  // Throws UsageError if a link's rate is not given.
  void Check() const;

 private:
  std::map<std::string, SharedLink> links_;
};

}  // namespace viaduct::path
