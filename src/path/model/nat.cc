#include "path/model/nat.h"

#include <utility>

#include "base/error.h"
#include "base/wire/ethernet.h"
#include "base/wire/port_fields.h"

namespace viaduct::path {
namespace {

constexpr uint64_t kFirstPort = 1024, kPorts = 65536 - kFirstPort;
static_assert(NatTable::kMaxBindings < kPorts);  // so one port is always free

bool IsForGroup(wire::ConstBytes frame) {
  return frame.empty() || (wire::Load8(frame.data()) & 1) != 0;
}

// Returns whether the ports can be replaced. The checksum must be in the frame: if a first fragment
// ends before the checksum (a tiny fragment, RFC 1858), the checksum is in a later fragment, which
// passes unchanged. A header that is cut off cannot be translated either.
bool CanTranslate(const wire::PortFields& fields) { return fields.checksum.has_value(); }

}  // namespace

void CheckOneNat(const std::optional<NatSpec>& one, const std::optional<NatSpec>& other) {
  if (one && other) {
    throw UsageError(
        "SPEC: nat: the other direction already has NAT; only one direction of a pair can have "
        "NAT");
  }
}

void NatTable::Check(Direction outward, const std::optional<NatSpec>& spec) const {
  if (outward != outward_) CheckOneNat(spec, spec_);
}

void NatTable::Set(Direction outward, const std::optional<NatSpec>& spec,
                   std::optional<Instant> now) {
  if (!spec && outward != outward_) return;
  spec_ = spec;
  outward_ = outward;
  begun_ = false;
  previous_ = std::exchange(current_, {});
  since_ = now.value_or(Instant());
  if (now) Begin(*now);
}

void NatTable::Begin(Instant now) {
  begun_ = true;
  next_ = Instant::Never();
  if (spec_ && spec_->rebind) next_ = now + spec_->first.value_or(*spec_->rebind);
}

// Starts new bindings at each rebinding until `now`. If several rebindings are due, the previous
// bindings are empty, because no frame passed between these rebindings.
void NatTable::Advance(Instant now) {
  if (!begun_) Begin(now);
  if (now < next_) return;
  const int64_t more = (now - next_) / *spec_->rebind;
  previous_ = std::exchange(current_, {});
  if (more > 0) previous_ = {};
  since_ = next_ + *spec_->rebind * more;
  next_ = since_ + *spec_->rebind;
}

// Draws a free port for an endpoint, different from its port before the last rebinding.
uint16_t NatTable::FreePort(const Endpoint& endpoint, const Bindings& bindings) {
  const auto before = previous_.outside.find(endpoint);
  while (true) {
    const auto port = static_cast<uint16_t>(kFirstPort + random_.Below(kPorts));
    if (before != previous_.outside.end() && before->second == port) continue;
    if (!bindings.inside.contains({endpoint.address, endpoint.protocol, port})) return port;
  }
}

std::optional<uint16_t> NatTable::Bind(const Endpoint& endpoint, Bindings& bindings) {
  const auto bound = bindings.outside.find(endpoint);
  if (bound != bindings.outside.end()) return bound->second;
  if (bindings.outside.size() >= kMaxBindings) return std::nullopt;
  const uint16_t port = FreePort(endpoint, bindings);
  bindings.outside[endpoint] = port;
  bindings.inside[{endpoint.address, endpoint.protocol, port}] = endpoint.port;
  return port;
}

// Translates a frame that leaves through the NAT. An ICMP error quotes a packet that entered
// through the NAT, so the destination of the quoted packet is behind the NAT.
bool NatTable::TranslateOutward(wire::Bytes frame, Bindings& bindings) {
  if (const auto fields = wire::FindPorts(frame)) {
    if (!CanTranslate(*fields)) return false;
    const auto port = Bind({fields->source, fields->protocol, fields->SourcePort(frame)}, bindings);
    if (port) wire::SetSourcePort(frame, *fields, *port);
    return port.has_value();
  }
  if (const auto quoted = wire::FindQuotedPorts(frame)) {
    const auto bound = bindings.outside.find(
        {quoted->destination, quoted->protocol, quoted->DestinationPort(frame)});
    if (bound != bindings.outside.end()) wire::SetDestinationPort(frame, *quoted, bound->second);
  }
  return true;
}

bool NatTable::TranslateInward(wire::Bytes frame, const Bindings& bindings) {
  const auto find = [&](const wire::IpAddress& address, uint8_t protocol, uint16_t port) {
    const auto bound = bindings.inside.find({address, protocol, port});
    return bound == bindings.inside.end() ? std::nullopt : std::optional(bound->second);
  };
  if (const auto fields = wire::FindPorts(frame)) {
    if (!CanTranslate(*fields)) return false;
    const auto port = find(fields->destination, fields->protocol, fields->DestinationPort(frame));
    if (port) wire::SetDestinationPort(frame, *fields, *port);
    return port.has_value();
  }
  if (const auto quoted = wire::FindQuotedPorts(frame)) {
    const auto port = find(quoted->source, quoted->protocol, quoted->SourcePort(frame));
    if (port) wire::SetSourcePort(frame, *quoted, *port);
    return port.has_value();
  }
  return true;
}

bool NatTable::Translate(Direction direction, wire::Bytes frame, Instant now) {
  if (!spec_ || IsForGroup(frame)) return true;
  Advance(now);
  Bindings& bindings = now < since_ ? previous_ : current_;
  return direction == outward_ ? TranslateOutward(frame, bindings)
                               : TranslateInward(frame, bindings);
}

void Nat::Check(Direction outward, const std::optional<NatSpec>& spec) const {
  const MutexLock lock(mutex_);
  table_.Check(outward, spec);
}

void Nat::Set(Direction outward, const std::optional<NatSpec>& spec, std::optional<Instant> now) {
  const MutexLock lock(mutex_);
  table_.Set(outward, spec, now);
  const std::optional<Direction> on = table_.Outward();
  state_ = !on ? State::kOff : *on == Direction::kUp ? State::kUp : State::kDown;
}

void Nat::Begin(Instant now) {
  const MutexLock lock(mutex_);
  table_.Begin(now);
}

bool Nat::Translate(Direction direction, wire::Bytes frame, Instant now) {
  const MutexLock lock(mutex_);
  return table_.Translate(direction, frame, now);
}

}  // namespace viaduct::path
