#include "base/result/hub.h"

namespace viaduct::result {

using fields::Always;
using fields::WhenSet;

fields::KeysOf<ClientResult> ClientResult::Keys() {
  using C = ClientResult;
  static constexpr fields::Key<C> kKeys[] = {
      Always<&C::node>("node", "text", "the remote node"),
      Always<&C::vni>("vni", "a whole number", "its VXLAN identifier"),
      WhenSet<&C::client>("client", "an address", "its client; absent: it has none"),
      Always<&C::rx_frames>("rx_frames", "frames", "from the client to the node"),
      Always<&C::rx_bytes>("rx_bytes", "bytes", "and their bytes"),
      Always<&C::tx_frames>("tx_frames", "frames", "from the node to the client"),
      Always<&C::tx_bytes>("tx_bytes", "bytes", "and their bytes"),
      Always<&C::drops>(
          "drops", "frames, by cause",
          "lost here. From the client: `socket_full` (refused by the kernel, unread: datagrams "
          "beyond its share of the socket's buffer, and such as would have been dropped as "
          "`overload`), `overload` (more waited than its share), `spoofed` (from a "
          "host that has not claimed the node, or not inside of the encryption), `malformed`, "
          "`ip_options` (which ns-3 would "
          "corrupt), `too_long`, `refused` (the link is down). To the client: `unclaimed` (there "
          "is none), `to_client_too_long`, `to_client_refused` (by the kernel: no route, no "
          "buffer). Where the client has the programs of a router, also `from_program_...` (no "
          "IPv4 "
          "packet, or no route, as in the counters of `NODE/programs`) and `unresolved` (the "
          "client did not tell its MAC address)"),
      Always<&C::waiting>("waiting", "frames", "from the client that wait now"),
      WhenSet<&C::wait_ms>("wait_ms", "ms",
                           "how long its frames waited between the socket and the node, the mean"),
      Always<&C::longest_wait_ms>("longest_wait_ms", "ms", "and the longest"),
  };
  return kKeys;
}

fields::KeysOf<HubTraffic> HubTraffic::Keys() {
  using T = HubTraffic;
  static constexpr fields::Key<T> kKeys[] = {
      WhenSet<&T::flows>("flows", "a list of maps", "as in the results of a run"),
      WhenSet<&T::programs>("programs", "a list of maps", "the same"),
      WhenSet<&T::events>("events", "a list of maps", "the same; times since convergence"),
      WhenSet<&T::event_timing>("event_timing", "a map",
                                "how late the events were; of a lab (a simulation's are events of "
                                "the simulator)"),
      WhenSet<&T::captures>("captures", "a list of maps", "as in the results of a run"),
      WhenSet<&T::state>("state", "a list of maps", "the same"),
  };
  return kKeys;
}

fields::KeysOf<HubResult> HubResult::Keys() {
  using H = HubResult;
  static constexpr fields::Key<H> kKeys[] = {
      Always<&H::name>("name", "text", "the scenario's"),
      Always<&H::seed>("seed", "a whole number", "of the random streams"),
      Always<&H::seconds>("seconds", "s", "how long it has served"),
      Always<&H::port>("port", "a UDP port", "where clients send to"),
      Always<&H::readers>("readers", "a whole number",
                          "of threads that read, each from a socket of its own; 0: the simulator, "
                          "or the path engine, does that"),
      Always<&H::queue>(
          "queue", "frames",
          "from clients that may wait; while several wait, a client may have its share"),
      WhenSet<&H::encryption>("encryption", "`wireguard`",
                              "of the tunnels to clients; absent: they have none"),
      Always<&H::receive_buffer>("receive_buffer", "bytes",
                                 "of each socket, as the kernel accounts for it; without "
                                 "privileges limited by net.core.rmem_max"),
      Always<&H::send_buffer>("send_buffer", "bytes", "the same for sending"),
      WhenSet<&H::unshared>("unshared", "text",
                            "why clients do not share the receive buffers, so that one of them can "
                            "fill them for all; absent: they do"),
      Always<&H::datagrams>("datagrams", "datagrams", "that were read"),
      Always<&H::drops>("drops", "datagrams, by cause",
                        "lost, and no client's: `socket_full` (they came faster than they were "
                        "read, and the buffer was full in spite of all shares), `malformed` (not "
                        "VXLAN), `unknown_vni`, `spoofed` (with encryption: more "
                        "than were looked at came past it)"),
      Always<&H::clients>("clients", "a list of maps", "each remote node"),
      WhenSet<&H::claims>("claims", "a whole number",
                          "nodes given to clients with the key; absent, as the next two: no node "
                          "is for those"),
      WhenSet<&H::returns>("returns", "a whole number",
                           "of these: to a client that had the node before"),
      WhenSet<&H::refused>(
          "refused", "a whole number, by cause",
          "connections and claims: `wrong_key`, `no_handshake` (not TLS 1.3 as it should be, also "
          "what was replayed), `too_slow`, `too_many` (connections), `malformed` (messages), "
          "`unknown_node`, `taken` (another's, or kept for a client that vanished), `none_free`, "
          "`by_hub`, `given_back` (by a client that could not become the node: its kernel has no "
          "WireGuard, for example)"),
      WhenSet<&H::loop>("loop", "s, by activity",
                        "how a hub that simulates spent its time: `events`, `reading` (of "
                        "datagrams, unless threads do that), `writing`, `sleeping`, `spinning`"),
      Always<&H::events>("events", "a map", "how late the simulator's events were"),
      Always<&H::frames>("frames", "a map", "how long frames waited for the simulator"),
      WhenSet<&H::unreadable>("unreadable", "packets, by node",
                              "which this node of ns-3's dropped, as ns-3 could not read their "
                              "transport header or message; their frames are in `rx_frames`"),
      WhenSet<&H::traffic>("traffic", "a map",
                           "what the scenario's own flows, programs, events and captures did; "
                           "absent: it has none"),
      Always<&H::verdict>("verdict", "VALID, VOID, not judged",
                          "whether both, and the events of `traffic`, kept "
                          "`timing.lateness_limit`; datagrams that found the "
                          "socket full, and frames that the hub lost to overload or could not "
                          "send, count as later than any limit; not judged: no limit, or no frame "
                          "came from any client"),
      Always<&H::failures>("failures", "a list of text",
                           "what failed: a forwarder that died, routes that a kernel refused... "
                           "The command's exit status is 1 then"),
      WhenSet<&H::environment>("environment", "a map", "the machine and the program"),
  };
  return kKeys;
}

void HubResult::Judge(uint64_t from_clients, std::optional<Duration> limit) {
  verdict = Worse(result::Judge(events, limit), result::Judge(frames, limit));
  if (traffic && traffic->event_timing) {
    verdict = Worse(verdict, result::Judge(*traffic->event_timing, limit));
  }
  if (from_clients == 0 && verdict == Verdict::kValid) verdict = Verdict::kNotJudged;
  verdict = UnlessFailed(verdict, failures);
}

void HubResult::Fail(const std::vector<std::string>& lines) {
  failures.insert(failures.end(), lines.begin(), lines.end());
  verdict = UnlessFailed(verdict, failures);
}

ExitStatus HubResult::Status() const {
  if (!failures.empty()) return ExitStatus::kFailure;
  return verdict == Verdict::kVoid ? ExitStatus::kVoid : ExitStatus::kSuccess;
}

fields::KeysOf<HubProgress> HubProgress::Keys() {
  using P = HubProgress;
  static constexpr fields::Key<P> kKeys[] = {
      Always<&P::seconds>("seconds", "s", "how long it has served"),
      Always<&P::port>("port", "a UDP port", "where clients send to"),
      Always<&P::nodes>("nodes", "nodes", "that are remote"),
      Always<&P::claimed>("claimed", "nodes", "that have a client"),
      Always<&P::rx_frames>("rx_frames", "frames", "from clients"),
      Always<&P::tx_frames>("tx_frames", "frames", "to clients"),
      Always<&P::lost>("lost", "frames and datagrams", "lost, for whatever cause"),
  };
  return kKeys;
}

}  // namespace viaduct::result
