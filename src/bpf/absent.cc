// In place of copy_filter.cc, forwarder.cc, joiner.cc, object.cc, rbridge_program.cc,
// share_program.cc and upcall_program.cc in a build without clang or libbpf.
#include "base/error.h"
#include "bpf/copy_filter.h"
#include "bpf/forwarder.h"
#include "bpf/joiner.h"
#include "bpf/rbridge_program.h"
#include "bpf/share_program.h"
#include "bpf/upcall_program.h"

namespace viaduct::bpf {

struct Forwarder::State {};

std::string WhyNot() {
  return "this build has no eBPF: clang or libbpf-dev was missing (run setup/packages build, then "
         "build again)";
}

Forwarder::Forwarder(int, const std::vector<Port>&) { throw EnvironmentError(WhyNot()); }
Forwarder::~Forwarder() = default;
void Forwarder::SetOwnAddresses(const std::vector<wire::IpAddress>&) {}
viaduct_port_counters Forwarder::CountersOf(int) const { return {}; }
Verdict Forwarder::Try(int, wire::ConstBytes) const { return {}; }

struct CopyFilter::State {};

std::string WhyNoCopyFilter() { return WhyNot(); }

CopyFilter::CopyFilter(size_t) { throw EnvironmentError(WhyNot()); }
CopyFilter::~CopyFilter() = default;
bool CopyFilter::Set(const wire::IpPrefix&, Taker) { return false; }
void CopyFilter::Remove(const wire::IpPrefix&) {}
void CopyFilter::Discard(const std::set<wire::Family>&) {}
void CopyFilter::AttachTo(int, const std::set<int>&) {}
Verdict CopyFilter::Try(int, wire::ConstBytes) const { return {}; }

struct Joiner::State {};

std::string WhyNotJoined() { return WhyNot(); }

Joiner::Joiner(int, const std::vector<JoinWire>&) { throw EnvironmentError(WhyNot()); }
Joiner::~Joiner() = default;
int Joiner::Fd() const { return -1; }
std::vector<PathKey> Joiner::TakeRequests() { return {}; }
bool Joiner::Set(const PathKey&, const JoinedPath&, const PathCounters&) { return false; }
void Joiner::Remove(const PathKey&) {}
uint64_t Joiner::TooBigs() const { return 0; }
void Joiner::SetAddresses(const std::map<wire::IpAddress, uint32_t>&) {}
void Joiner::SetFarMac(int, const wire::MacAddress&) {}
viaduct_joined_traffic Joiner::TrafficOf(uint32_t) const { return {}; }
void Joiner::ClearTraffic(uint32_t) {}
viaduct_join_port Joiner::CountersOf(int) const { return {}; }
std::optional<viaduct_wire_loss> Joiner::LossOf(int) const { return {}; }

struct RBridgeProgram::State {};

std::string WhyNoRBridge() { return WhyNot(); }

RBridgeProgram::RBridgeProgram(int, const std::vector<Port>&) { throw EnvironmentError(WhyNot()); }
RBridgeProgram::~RBridgeProgram() = default;
int RBridgeProgram::TablesFd() const { return -1; }
int RBridgeProgram::EventsFd() const { return -1; }
std::vector<viaduct_rbridge_event> RBridgeProgram::TakeEvents() { return {}; }
viaduct_rbridge_interface RBridgeProgram::CountersOf(int) const { return {}; }

Shares AttachShares(int, std::span<const uint32_t>, uint64_t) { throw EnvironmentError(WhyNot()); }

std::vector<UniqueFd> AttachUpcalls(int, const UpcallOptions&) {
  throw EnvironmentError(
      WhyNot() +
      "; a protocol that finds routes on demand needs it in mode offload, or use "
      "mode emulate");
}

}  // namespace viaduct::bpf
