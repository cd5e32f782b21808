#include "base/result/hub.h"

namespace viaduct::result {

using fields::Always;
using fields::WhenSet;

fields::KeysOf<ClientResult> ClientResult::Keys() {
  using C = ClientResult;
  static constexpr fields::Key<C> kKeys[] = {
      Always<&C::node>("node", "text", "the remote node"),
      Always<&C::vni>("vni", "a whole number", "the VNI of the node"),
      WhenSet<&C::client>("client", "an address",
                          "the address of the node's client; absent if the node has no client"),
      Always<&C::rx_frames>("rx_frames", "frames", "frames from the client to the node"),
      Always<&C::rx_bytes>("rx_bytes", "bytes", "the bytes of the frames from the client"),
      Always<&C::tx_frames>("tx_frames", "frames", "frames from the node to the client"),
      Always<&C::tx_bytes>("tx_bytes", "bytes", "the bytes of the frames to the client"),
      Always<&C::drops>(
          "drops", "frames, by cause",
          "frames lost at the hub. From the client: `socket_full` (dropped by the kernel, at the "
          "socket: datagrams beyond the client's share of the socket's buffer, and datagrams that "
          "would otherwise have been dropped as `overload`), `overload` (more frames were queued "
          "than the client's share), `spoofed` (from a machine that has not claimed the node, or "
          "unencrypted although the hub encrypts), `malformed`, `ip_options` (which ns-3 would "
          "corrupt), `too_long`, `refused` (the link is down). To the client: `unclaimed` (the "
          "node has no client), `to_client_too_long`, `to_client_refused` (refused by the kernel: "
          "no route, or no buffer space). If the node is a router, also `from_program_...` (not an "
          "IPv4 packet, or no route, as in the counters of `NODE/programs`) and `unresolved` (the "
          "client did not report a MAC address)"),
      Always<&C::waiting>("waiting", "frames",
                          "queued frames from the client when these results were written"),
      WhenSet<&C::wait_ms>("wait_ms", "ms",
                           "the mean time from the arrival of a frame of the client at the hub's "
                           "socket until the node got the frame"),
      Always<&C::longest_wait_ms>("longest_wait_ms", "ms",
                                  "the longest time from the arrival of a frame of the client at "
                                  "the hub's socket until the node got the frame"),
  };
  return kKeys;
}

fields::KeysOf<HubTraffic> HubTraffic::Keys() {
  using T = HubTraffic;
  static constexpr fields::Key<T> kKeys[] = {
      WhenSet<&T::flows>("flows", "a list of maps", "the flows, as in the results of a run"),
      WhenSet<&T::programs>("programs", "a list of maps",
                            "the programs, as in the results of a run"),
      WhenSet<&T::events>(
          "events", "a list of maps",
          "the changes of links, as in the results of a run; times are counted from convergence"),
      WhenSet<&T::event_timing>("event_timing", "a map",
                                "the lateness of the changes in `events`; only for a lab (in a "
                                "simulation the simulator's events include these changes)"),
      WhenSet<&T::captures>("captures", "a list of maps",
                            "the captures, as in the results of a run"),
      WhenSet<&T::state>("state", "a list of maps",
                         "the files with the state of kernels, as in the results of a run"),
  };
  return kKeys;
}

fields::KeysOf<HubResult> HubResult::Keys() {
  using H = HubResult;
  static constexpr fields::Key<H> kKeys[] = {
      Always<&H::name>("name", "text", "the name of the scenario"),
      Always<&H::seed>("seed", "a whole number", "the seed of the random streams"),
      Always<&H::seconds>("seconds", "s", "how long the hub has served clients"),
      Always<&H::port>("port", "a UDP port", "the UDP port to which clients send"),
      Always<&H::readers>("readers", "a whole number",
                          "the number of threads that receive the clients' datagrams, each from a "
                          "separate socket; 0 if the simulator or the path engine receives them"),
      Always<&H::queue>("queue", "frames",
                        "the maximum number of queued frames from clients; while several clients "
                        "have queued frames, each client is limited to its share"),
      WhenSet<&H::encryption>(
          "encryption", "`wireguard`",
          "the encryption of the tunnels to clients; absent if they are not encrypted"),
      Always<&H::receive_buffer>("receive_buffer", "bytes",
                                 "the size of each socket's receive buffer, as the kernel counts "
                                 "it; without privileges it is limited by net.core.rmem_max"),
      Always<&H::send_buffer>("send_buffer", "bytes",
                              "the size of each socket's send buffer, as the kernel counts it"),
      WhenSet<&H::unshared>(
          "unshared", "text",
          "the reason why the receive buffers are not divided among the clients, so one client can "
          "fill a buffer that others need; absent if the buffers are divided"),
      Always<&H::datagrams>("datagrams", "datagrams",
                            "datagrams that the hub received from the sockets"),
      Always<&H::drops>(
          "drops", "datagrams, by cause",
          "lost datagrams that belong to no client: `socket_full` (the hub was too slow to receive "
          "them, and the buffer was full despite the clients' shares), `malformed` (not VXLAN), "
          "`unknown_vni`, `spoofed` (with encryption: unencrypted datagrams that arrived while the "
          "buffer for such datagrams was full)"),
      Always<&H::clients>("clients", "a list of maps", "one map for each remote node"),
      WhenSet<&H::claims>(
          "claims", "a whole number",
          "how often a node was assigned to a client that has the hub's key; `claims`, `returns` "
          "and `refused` are absent if no node has `remote: true`"),
      WhenSet<&H::returns>("returns", "a whole number",
                           "how many of the `claims` gave a client the node that it had before"),
      WhenSet<&H::refused>(
          "refused", "connections and claims, by cause",
          "refused connections and claims: `wrong_key`, `no_handshake` (not the expected TLS 1.3, "
          "or a replayed message), `too_slow` (no claim within the timeout), `too_many` "
          "(connections), `malformed` (messages), `unknown_node`, `taken` (by another client, or "
          "kept for a client that vanished), `none_free` (no free node), `by_hub` (the hub could "
          "not serve the client), `given_back` (by a client that could not become the node, for "
          "example because its kernel has no WireGuard)"),
      WhenSet<&H::loop>("loop", "s, by activity",
                        "for a hub with a simulation: how long the simulator spent in each "
                        "activity: `events`, `reading` (of datagrams, unless `readers` threads "
                        "receive them), `writing`, `sleeping`, `spinning` (busy-waiting)"),
      Always<&H::events>("events", "a map", "the lateness of the simulator's events"),
      Always<&H::frames>("frames", "a map", "how long frames waited for the simulator"),
      WhenSet<&H::unreadable>(
          "unreadable", "packets, by node",
          "packets that a node in ns-3 dropped because ns-3 could not parse the transport header "
          "or message; `rx_frames` includes these packets' frames"),
      WhenSet<&H::traffic>("traffic", "a map",
                           "the results of the scenario's flows, programs, events and captures; "
                           "absent if it has none"),
      Always<&H::verdict>(
          "verdict", "VALID, VOID, not judged",
          "whether `events`, `frames` and the events of `traffic` stayed within "
          "`timing.lateness_limit`; datagrams dropped because the socket was full, and frames that "
          "the hub dropped as `overload` or could not send, count as later than any limit; not "
          "judged: there is no limit, or no frame arrived from any client"),
      Always<&H::failures>("failures", "a list of text",
                           "what failed, for example a forwarder that exited or routes that a "
                           "kernel refused; the command's exit status is then 1"),
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
      Always<&P::seconds>("seconds", "s", "how long the hub has served clients"),
      Always<&P::port>("port", "a UDP port", "the UDP port to which clients send"),
      Always<&P::nodes>("nodes", "nodes", "the number of remote nodes"),
      Always<&P::claimed>("claimed", "nodes", "the number of remote nodes that have a client"),
      Always<&P::rx_frames>("rx_frames", "frames", "frames received from clients"),
      Always<&P::tx_frames>("tx_frames", "frames", "frames sent to clients"),
      Always<&P::lost>("lost", "frames and datagrams",
                       "frames and datagrams that were lost, for any reason"),
  };
  return kKeys;
}

}  // namespace viaduct::result
