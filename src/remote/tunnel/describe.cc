#include "remote/tunnel/describe.h"

#include <algorithm>

namespace viaduct::tunnel {
namespace {

result::ClientResult DescribeClient(const ClientHub& hub, size_t node) {
  const ClientCounters& counters = hub.CountersOf(node);
  result::ClientResult client;
  client.node = hub.nodes()[node].name;
  client.vni = hub.nodes()[node].vni;
  if (const auto peer = hub.ClientOf(node)) client.client = peer->address().ToString();
  client.rx_frames = counters.rx_frames;
  client.rx_bytes = counters.rx_bytes;
  client.tx_frames = counters.tx_frames;
  client.tx_bytes = counters.tx_bytes;
  client.waiting = hub.WaitingOf(node);
  AddCause(client.drops, "socket_full", counters.rx_dropped_socket_full);
  AddCause(client.drops, "overload", counters.rx_dropped_overload);
  AddCause(client.drops, "spoofed", counters.rx_dropped_spoofed);
  AddCause(client.drops, "malformed", counters.rx_dropped_malformed);
  AddCause(client.drops, "too_long", counters.rx_dropped_too_long);
  AddCause(client.drops, "unclaimed", counters.tx_dropped_unclaimed);
  AddCause(client.drops, "to_client_too_long", counters.tx_dropped_too_long);
  AddCause(client.drops, "to_client_refused", counters.tx_dropped_refused);
  if (counters.rx_frames > 0) {
    client.wait_ms = counters.waited.ToSeconds() * 1e3 / static_cast<double>(counters.rx_frames);
  }
  client.longest_wait_ms = counters.longest_wait.ToSeconds() * 1e3;
  return client;
}

}  // namespace

void AddCause(std::map<std::string, uint64_t>& drops, const char* cause, uint64_t count) {
  if (count > 0) drops[cause] += count;
}

result::HubProgress Summarize(const ClientHub& hub) {
  const HubCounters all = hub.counters();
  result::HubProgress progress;
  progress.port = hub.port();
  progress.nodes = hub.nodes().size();
  progress.lost = all.dropped_malformed + all.dropped_unknown_vni + all.dropped_socket_full +
                  all.dropped_spoofed;
  for (size_t i = 0; i < hub.nodes().size(); ++i) {
    const ClientCounters& counters = hub.CountersOf(i);
    progress.claimed += hub.ClientOf(i) ? 1 : 0;
    progress.rx_frames += counters.rx_frames;
    progress.tx_frames += counters.tx_frames;
    progress.lost += counters.Lost();
  }
  return progress;
}

void Describe(const ClientHub& hub, result::HubResult* result, size_t first, size_t count) {
  const HubCounters all = hub.counters();
  result->port = hub.port();
  result->readers = hub.readers();
  result->queue = hub.queue();
  result->receive_buffer = hub.underlay().receive_buffer();
  result->send_buffer = hub.underlay().send_buffer();
  if (!hub.why_unshared().empty()) result->unshared = hub.why_unshared();
  result->datagrams = all.datagrams;
  AddCause(result->drops, "malformed", all.dropped_malformed);
  AddCause(result->drops, "unknown_vni", all.dropped_unknown_vni);
  AddCause(result->drops, "socket_full", all.dropped_socket_full);
  AddCause(result->drops, "spoofed", all.dropped_spoofed);
  const size_t begin = std::min(first, hub.nodes().size());
  const size_t end = begin + std::min(count, hub.nodes().size() - begin);
  result->clients.reserve(end - begin);
  for (size_t i = begin; i < end; ++i) result->clients.push_back(DescribeClient(hub, i));
}

uint64_t OwnLosses(const ClientHub& hub) {
  uint64_t lost = hub.counters().dropped_socket_full;
  for (size_t i = 0; i < hub.nodes().size(); ++i) {
    const ClientCounters counters = hub.CountersOf(i);
    lost += counters.rx_dropped_socket_full + counters.rx_dropped_overload +
            counters.tx_dropped_refused;
  }
  return lost;
}

}  // namespace viaduct::tunnel
