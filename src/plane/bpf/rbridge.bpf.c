// The data plane of an RBridge (WMRP) at the ingress of its ports. The program decides as
// rbridge::Forward() (plane/rbridge/forward.cc) does, from the same tables and in the same order.
// It passes PDUs of the control plane to the simulator's socket, and forwards or drops all other
// frames.
//
// The differences from rbridge::Forward(): frames with two VLAN tags, or a service tag, are refused
// as malformed; short frames that are not IP are padded; and a terminal that is more than
// MAX_PROBES slots behind its hash slot in the table is not found, so its frames are flooded.
//
// Loops are in functions that are not static. The verifier checks a non-static function once,
// separately (since Linux 5.12 also a function that gets pointers to the tables), but a static
// function again at each call. Therefore the verifier processes 39,000 instructions instead of
// 563,000, and the program loads in 30 ms instead of 0.9 s.
#include "plane/bpf/rbridge.h"

#include "plane/bpf/packet.bpf.h"
#include "plane/bpf/rbridge_frame.bpf.h"

#define MAX_PROBES 256
// The minimum length of a terminal's frame before it is encapsulated. With this length, the
// encapsulated frame can be shortened to the terminal's frame again: bpf_skb_change_tail() does not
// cut bytes before the transport header's offset that bpf_skb_change_head() has left in the
// sk_buff.
#define LEAST (ETH_HLEN + GROWTH)
#define KEEP_CHECKSUM BPF_F_ADJ_ROOM_NO_CSUM_RESET  // keep the kernel's state of the checksum
#define CHUNK 2048
#define MAX_CHUNKS 33  // enough chunks for a frame of 64 KiB and some headers
#define NONE VIADUCT_RBRIDGE_NONE

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __uint(map_flags, BPF_F_MMAPABLE);
  __type(key, __u32);
  __type(value, struct viaduct_rbridge_shared);
} rbridge_shared SEC(".maps");

// The interfaces of the RBridge, keyed by ifindex. Each processor has separate counters.
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
  __uint(max_entries, VIADUCT_RBRIDGE_PORTS);
  __type(key, __u32);
  __type(value, struct viaduct_rbridge_interface);
} rbridge_interfaces SEC(".maps");

// The output interfaces of the RBridge, indexed by port; ifindex 0: the port has no output
// interface.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, VIADUCT_RBRIDGE_PORTS);
  __type(key, __u32);
  __type(value, struct viaduct_port);
} rbridge_outputs SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 64 * 1024);
} rbridge_events SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, VIADUCT_RBRIDGE_TOLD);
  __type(key, __u32);
  __type(value, struct viaduct_rbridge_told);
} rbridge_told SEC(".maps");

struct chunk {
  __u8 bytes[CHUNK];
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct chunk);
} rbridge_chunk SEC(".maps");

// The decision about a frame: its receivers and headers.
struct decision {
  __u64 native;        // ports to which the terminal's frame is sent
  __u64 encapsulated;  // ports to which an encapsulated frame is sent
  __u32 outcome;       // enum viaduct_rbridge_outcome
  __u32 offset;        // start of the terminal's frame in the arrived frame; 0: not encapsulated
  struct outer outer;  // header of encapsulated frames, without the source address
  struct inner inner;  // header of the terminal's frame
};

typedef const struct viaduct_rbridge_tables tables_t;

static __always_inline __u32 hash_of(__u64 key) { return key * 0x9e3779b97f4a7c15ull >> 40; }

__noinline __u32 find_adjacency(tables_t* tables, __u32 port, __u64 mac) {
  __u32 slot = hash_of(mac << 16 | port);
  union {
    struct viaduct_rbridge_adjacency adjacency;
    __u64 word;
  } sought = {.adjacency = {.port = port}};
  put_mac(sought.adjacency.mac, mac);
  if (!tables) return NONE;
  for (int i = 0; i < VIADUCT_RBRIDGE_ADJACENCY_SLOTS; ++i) {
    slot &= VIADUCT_RBRIDGE_ADJACENCY_SLOTS - 1;
    const __u32 index = tables->adjacency_slots[slot];
    if (index >= VIADUCT_RBRIDGE_ADJACENCIES) return NONE;
    if (*(const __u64*)&tables->adjacencies[index] == sought.word) return index;
    ++slot;
  }
  return NONE;
}

// Returns the slot of a terminal's entry, or VIADUCT_RBRIDGE_TERMINAL_SLOTS if there is no entry.
__noinline __u32 find_slot(tables_t* tables, __u64 key) {
  __u32 slot = hash_of(key);
  if (!tables) return VIADUCT_RBRIDGE_TERMINAL_SLOTS;
  for (int i = 0; i < MAX_PROBES; ++i) {
    slot &= VIADUCT_RBRIDGE_TERMINAL_SLOTS - 1;
    const struct viaduct_rbridge_terminal* entry = &tables->terminals[slot];
    if (entry->key == key) return slot;
    if (entry->key == 0) break;
    ++slot;
  }
  return VIADUCT_RBRIDGE_TERMINAL_SLOTS;
}

static __always_inline const struct viaduct_rbridge_terminal* find_terminal(tables_t* tables,
                                                                            __u64 key) {
  const __u32 slot = find_slot(tables, key);
  if (slot >= VIADUCT_RBRIDGE_TERMINAL_SLOTS) return 0;
  return &tables->terminals[below(VIADUCT_RBRIDGE_TERMINAL_SLOTS, slot)];
}

static __always_inline __u16 nickname_of(tables_t* tables, __u32 rbridge) {
  return tables->rbridges[below(VIADUCT_RBRIDGE_NODES, rbridge)].nickname;
}

// Reports to the control plane that a terminal was seen. Does nothing if the tables have the
// terminal already, or if the terminal was reported after the tables last changed.
__noinline int see(tables_t* tables, __u64 version, __u64 key, __u32 rbridge, __u32 port) {
  if (!tables) return 0;
  const struct viaduct_rbridge_terminal* known = find_terminal(tables, key);
  if (known && known->rbridge == rbridge && known->port == port && known->epoch == tables->epoch) {
    return 0;
  }
  if (rbridge >= VIADUCT_RBRIDGE_NODES) return 0;
  const __u16 nickname = rbridge == 0 ? 0 : nickname_of(tables, rbridge);
  const struct viaduct_rbridge_event event = {key, (__u64)nickname << 16 | port};
  const __u32 place = hash_of(key) & (VIADUCT_RBRIDGE_TOLD - 1);
  struct viaduct_rbridge_told* told = bpf_map_lookup_elem(&rbridge_told, &place);
  if (!told ||
      (told->event.key == key && told->event.value == event.value && told->version == version)) {
    return 0;
  }
  if (bpf_ringbuf_output(&rbridge_events, (void*)&event, sizeof event, 0) != 0) return 0;
  told->event = event;
  told->version = version;
  return 0;
}

static __always_inline const struct viaduct_rbridge_adjacency* adjacency_at(tables_t* tables,
                                                                            __u32 index) {
  if (index >= VIADUCT_RBRIDGE_ADJACENCIES) return 0;
  const struct viaduct_rbridge_adjacency* adjacency = &tables->adjacencies[index];
  return adjacency->port < VIADUCT_RBRIDGE_PORTS ? adjacency : 0;
}

// Directs the frame to the next RBridge on the path to RBridge `index`. Returns 0 if there is no
// path.
static __always_inline int to_rbridge(tables_t* tables, __u32 index, struct decision* decision) {
  if (index >= VIADUCT_RBRIDGE_NODES) return 0;
  const struct viaduct_rbridge_adjacency* next =
      adjacency_at(tables, tables->rbridges[index].next_hop);
  if (!next) return 0;
  __builtin_memcpy(decision->outer.destination, next->mac, ETH_ALEN);
  decision->encapsulated = 1ull << (next->port & 63);
  return 1;
}

// Returns 1 if the value, below 1 << 63, is 0; else 0. The function has no branch, because the
// verifier would check both sides of a branch in each iteration of a loop.
static __always_inline __u64 is_zero(__u64 value) {
  asm volatile("" : "+r"(value));
  return (value - 1) >> 63;
}

// Returns the ports that lead to this RBridge's neighbours in a tree, except the port of neighbour
// `but`.
__noinline __u64 tree_ports(tables_t* tables, __u32 tree, __u32 but) {
  __u64 ports = 0;
  if (!tables || tree >= VIADUCT_RBRIDGE_TREES) return 0;
  for (__u32 i = 0; i < VIADUCT_RBRIDGE_ADJACENCIES; ++i) {
    const __u64 port = tables->adjacencies[i].port;
    const __u64 is_in = tables->trees[tree].neighbours[i / 64] >> (i % 64) & 1;
    const __u64 counts = is_in & is_zero(port / VIADUCT_RBRIDGE_PORTS) & (is_zero(i ^ but) ^ 1);
    ports |= counts << (port & (VIADUCT_RBRIDGE_PORTS - 1));
  }
  return ports;
}

__noinline __u64 terminal_ports(tables_t* tables) {
  __u64 ports = 0;
  if (!tables) return 0;
  for (__u32 i = 0; i < VIADUCT_RBRIDGE_PORTS; ++i) {
    const struct viaduct_rbridge_port* port = &tables->ports[i];
    ports |= (is_zero(port->exists) ^ 1) << i & (is_zero(port->serves_terminals) ^ 1) << i;
  }
  return ports;
}

static __always_inline enum viaduct_rbridge_outcome sent(const struct decision* decision) {
  return decision->native || decision->encapsulated ? VIADUCT_RBRIDGE_FORWARDED
                                                    : VIADUCT_RBRIDGE_NO_RECEIVER;
}

// ------------------------------------------------------------ frames that arrive from terminals

static __always_inline void encapsulate(tables_t* tables, __u64 destination, int to_all,
                                        __u16 egress, struct decision* decision) {
  if (to_all) put_mac(decision->outer.destination, destination);
  decision->outer.first = bpf_htons((to_all ? 0x800 : 0) | (tables->hop_count & 0x3f));
  decision->outer.egress = bpf_htons(egress);
  decision->outer.ingress = bpf_htons(tables->nickname);
}

static __always_inline enum viaduct_rbridge_outcome flood(tables_t* tables, __u32 port,
                                                          struct decision* decision) {
  decision->native = terminal_ports(tables) & ~(1ull << (port & 63));
  const __u32 tree = tables->own_tree;
  if (tree < VIADUCT_RBRIDGE_TREES) {
    decision->encapsulated = tree_ports(tables, tree, NONE);
    encapsulate(tables, ALL_RBRIDGES, 1, tables->trees[tree].root, decision);
  }
  return sent(decision);
}

static __always_inline enum viaduct_rbridge_outcome to_local(tables_t* tables, __u32 from,
                                                             __u32 port,
                                                             struct decision* decision) {
  if (port == from) return VIADUCT_RBRIDGE_NO_RECEIVER;
  if (port >= VIADUCT_RBRIDGE_PORTS || !tables->ports[port].serves_terminals) {
    return VIADUCT_RBRIDGE_NO_ROUTE;
  }
  decision->native = 1ull << port;
  return VIADUCT_RBRIDGE_FORWARDED;
}

// Reads the VLAN tag of a terminal's frame, from the kernel's metadata or the frame. Returns 0 if
// the tag is refused.
static __always_inline int read_tag(struct __sk_buff* skb, __be16 type, struct inner* inner) {
  inner->tag_type = bpf_htons(ETH_P_8021Q);
  if (skb->vlan_present) {
    if (skb->vlan_proto != bpf_htons(ETH_P_8021Q) || type == bpf_htons(ETH_P_8021Q)) return 0;
    inner->tci = bpf_htons(skb->vlan_tci);
  } else if (type == bpf_htons(ETH_P_8021Q)) {
    if (bpf_skb_load_bytes(skb, ETH_HLEN, &inner->tci, sizeof inner->tci) != 0) return 0;
  } else {
    inner->tci = 0;
  }
  const __u16 tci = bpf_ntohs(inner->tci);
  if ((tci & NO_VLAN) == NO_VLAN) return 0;
  if ((tci & NO_VLAN) == 0) inner->tci = bpf_htons(tci | DEFAULT_VLAN);
  return 1;
}

static __always_inline enum viaduct_rbridge_outcome ingress(struct __sk_buff* skb, tables_t* tables,
                                                            __u64 version, __u32 port,
                                                            struct decision* decision) {
  const __u64 to = number_of(decision->outer.destination);
  if (is_link_local(to)) return VIADUCT_RBRIDGE_LINK_LOCAL;
  if (port >= VIADUCT_RBRIDGE_PORTS || !tables->ports[port].serves_terminals) {
    return VIADUCT_RBRIDGE_NOT_SERVED;
  }
  if (number_of(tables->ports[port].mac) == to) return VIADUCT_RBRIDGE_NOT_FOR_US;
  __builtin_memcpy(&decision->inner, &decision->outer, ADDRESSES_SIZE);
  if (!read_tag(skb, decision->outer.type, &decision->inner)) return VIADUCT_RBRIDGE_MALFORMED;
  if (!is_usable(tables->nickname)) return VIADUCT_RBRIDGE_NO_ROUTE;
  decision->outer.type = bpf_htons(TYPE_TRILL);
  const __u16 vlan = vlan_of(&decision->inner);
  see(tables, version, number_of(decision->inner.source) << 16 | vlan, 0, port);
  const struct viaduct_rbridge_terminal* known =
      to & GROUP ? 0 : find_terminal(tables, to << 16 | vlan);
  if (!known) return flood(tables, port, decision);
  const __u32 rbridge = known->rbridge;
  if (rbridge == 0) return to_local(tables, port, known->port, decision);
  if (!to_rbridge(tables, rbridge, decision)) return VIADUCT_RBRIDGE_NO_ROUTE;
  encapsulate(tables, 0, 0, nickname_of(tables, rbridge), decision);
  return VIADUCT_RBRIDGE_FORWARDED;
}

// ------------------------------------------------------------ encapsulated frames

// Reads the terminal's frame inside an encapsulated frame. The terminal's frame always has a tag.
// Returns 0 if the format of the terminal's frame is wrong.
static __always_inline int read_inner(struct __sk_buff* skb, struct decision* decision) {
  struct inner* inner = &decision->inner;
  // The minimum length includes the EtherType behind the tag.
  if (skb->len < decision->offset + sizeof *inner + sizeof inner->tag_type ||
      bpf_skb_load_bytes(skb, decision->offset, inner, sizeof *inner) != 0) {
    return 0;
  }
  const __u16 tci = bpf_ntohs(inner->tci);
  return is_source(number_of(inner->source)) && inner->tag_type == bpf_htons(ETH_P_8021Q) &&
         (tci & NO_VLAN) != NO_VLAN && !is_link_local(number_of(inner->destination));
}

static __always_inline void to_receivers(tables_t* tables, __u64 version, __u32 ingress,
                                         struct decision* decision) {
  const struct inner* inner = &decision->inner;
  const __u16 vlan = vlan_of(inner);
  const __u64 to = number_of(inner->destination);
  see(tables, version, number_of(inner->source) << 16 | vlan, ingress, NONE);
  const struct viaduct_rbridge_terminal* known =
      to & GROUP ? 0 : find_terminal(tables, to << 16 | vlan);
  if (known && known->rbridge == 0) {
    const __u32 port = known->port;
    if (port < VIADUCT_RBRIDGE_PORTS && tables->ports[port].serves_terminals) {
      decision->native = 1ull << port;
      return;
    }
  }
  decision->native = terminal_ports(tables);
}

static __always_inline enum viaduct_rbridge_outcome from_tree(struct __sk_buff* skb,
                                                              tables_t* tables, __u64 version,
                                                              __u32 ingress, __u32 sender,
                                                              __u8 options,
                                                              struct decision* decision) {
  const __u16 root = bpf_ntohs(decision->outer.egress);
  __u32 tree = 0;
  while (tree < VIADUCT_RBRIDGE_TREES && tables->trees[tree].root != root) ++tree;
  if (tree >= VIADUCT_RBRIDGE_TREES || !is_usable(root)) return VIADUCT_RBRIDGE_NO_ROUTE;
  if (tables->rbridges[ingress].tree_neighbour[tree] != sender) return VIADUCT_RBRIDGE_WRONG_PATH;
  if (!read_inner(skb, decision)) return VIADUCT_RBRIDGE_MALFORMED;
  decision->encapsulated = tree_ports(tables, tree, sender);
  if ((options & 0xc0) == 0) to_receivers(tables, version, ingress, decision);
  return sent(decision);
}

static __always_inline enum viaduct_rbridge_outcome unicast(struct __sk_buff* skb, tables_t* tables,
                                                            __u64 version, __u32 ingress,
                                                            __u8 options,
                                                            struct decision* decision) {
  const __u32 egress = tables->by_nickname[bpf_ntohs(decision->outer.egress)];
  if (egress != 0) {
    return to_rbridge(tables, egress, decision) ? VIADUCT_RBRIDGE_FORWARDED
                                                : VIADUCT_RBRIDGE_NO_ROUTE;
  }
  if (options & 0xc0) return VIADUCT_RBRIDGE_OPTION;
  if (!read_inner(skb, decision) || number_of(decision->inner.destination) & GROUP) {
    return VIADUCT_RBRIDGE_MALFORMED;
  }
  to_receivers(tables, version, ingress, decision);
  return sent(decision);
}

static __always_inline enum viaduct_rbridge_outcome transit(struct __sk_buff* skb, tables_t* tables,
                                                            __u64 version, __u32 port,
                                                            struct decision* decision) {
  struct outer* outer = &decision->outer;
  const __u64 to = number_of(outer->destination);
  const int to_all = to == ALL_RBRIDGES;
  if (port >= VIADUCT_RBRIDGE_PORTS) return VIADUCT_RBRIDGE_NOT_SERVED;
  if (!to_all && to != number_of(tables->ports[port].mac)) return VIADUCT_RBRIDGE_NOT_FOR_US;
  if (bpf_skb_load_bytes(skb, ETH_HLEN, &outer->first, TRILL_SIZE) != 0) {
    return VIADUCT_RBRIDGE_MALFORMED;
  }
  const __u16 first = bpf_ntohs(outer->first);
  if (first >> 14 != 0 || !!(first & 0x800) != to_all) return VIADUCT_RBRIDGE_MALFORMED;
  const __u32 sender = find_adjacency(tables, port, number_of(outer->source));
  if (sender == NONE) return VIADUCT_RBRIDGE_NO_ADJACENCY;
  if ((first & 0x3f) == 0) return VIADUCT_RBRIDGE_HOP_COUNT;
  const __u32 ingress = tables->by_nickname[bpf_ntohs(outer->ingress)];
  if (ingress >= VIADUCT_RBRIDGE_NODES || ingress == 0) return VIADUCT_RBRIDGE_NO_ROUTE;
  const __u32 words = first >> 6 & 0x1f;
  decision->offset = OUTER_SIZE + 4 * words;
  if (skb->len < decision->offset) return VIADUCT_RBRIDGE_MALFORMED;
  __u8 options = 0;
  if (words > 0) bpf_skb_load_bytes(skb, OUTER_SIZE, &options, sizeof options);
  if (options & 0x80) return VIADUCT_RBRIDGE_OPTION;
  // Reserved bits are sent as 0, as rbridge::TrillHeader::Write() does; the hop count is decreased
  // by 1.
  outer->first = bpf_htons((first & 0xfff) - 1);
  return to_all ? from_tree(skb, tables, version, ingress, sender, options, decision)
                : unicast(skb, tables, version, ingress, options, decision);
}

static __always_inline enum viaduct_rbridge_outcome decide(struct __sk_buff* skb, tables_t* tables,
                                                           __u64 version, __u32 port,
                                                           struct decision* decision) {
  struct outer* outer = &decision->outer;
  if (port >= VIADUCT_RBRIDGE_PORTS || !tables->ports[port].exists) {
    return VIADUCT_RBRIDGE_NOT_SERVED;
  }
  if (bpf_skb_load_bytes(skb, 0, outer, ETH_HLEN) != 0 || !is_source(number_of(outer->source))) {
    return VIADUCT_RBRIDGE_MALFORMED;
  }
  if (!skb->vlan_present) {
    if (outer->type == bpf_htons(TYPE_ISIS) && number_of(outer->destination) == ALL_ISIS_RBRIDGES) {
      return VIADUCT_RBRIDGE_CONTROL;
    }
    if (outer->type == bpf_htons(TYPE_TRILL)) return transit(skb, tables, version, port, decision);
  }
  return ingress(skb, tables, version, port, decision);
}

// ------------------------------------------------------------ sending

// Returns whether the interface accepts a frame of this length; bpf_redirect_peer() does not check.
static __always_inline int fits(struct __sk_buff* skb, __u32 ifindex) {
  __u32 mtu = 0;
  return bpf_check_mtu(skb, ifindex, &mtu, 0, 0) == 0;
}

static __always_inline void count_not_sent(__u32 ifindex) {
  struct viaduct_rbridge_interface* leaves = bpf_map_lookup_elem(&rbridge_interfaces, &ifindex);
  if (leaves) leaves->not_sent += 1;
}

// Writes the port's MAC address as the frame's source.
static __always_inline void put_source(struct __sk_buff* skb, tables_t* tables, __u32 port) {
  const __u8* mac = tables->ports[below(VIADUCT_RBRIDGE_PORTS, port)].mac;
  bpf_skb_store_bytes(skb, ETH_ALEN, mac, ETH_ALEN, 0);
}

// Sends a copy of the frame to this port; an encapsulated copy gets the port's address as its
// source.
__noinline int send_copy(struct __sk_buff* skb, tables_t* tables, __u32 port, int encapsulated) {
  if (!tables || port >= VIADUCT_RBRIDGE_PORTS) return 0;
  const struct viaduct_port* output = bpf_map_lookup_elem(&rbridge_outputs, &port);
  if (!output || output->ifindex == 0) return 0;
  if (encapsulated) put_source(skb, tables, port);
  const __u32 leaves = output->ifindex;
  if (!fits(skb, leaves) || bpf_clone_redirect(skb, leaves, 0) != 0) count_not_sent(leaves);
  return 0;
}

__noinline int send_copies(struct __sk_buff* skb, tables_t* tables, __u64 ports, int encapsulated) {
  if (!tables) return 0;
  for (__u32 i = 0; i < VIADUCT_RBRIDGE_PORTS; ++i) {
    if (ports >> i & 1) send_copy(skb, tables, i, encapsulated);
  }
  return 0;
}

static __always_inline __u32 only_port_of(__u64 ports) {
  __u32 port = 0;
  if (ports >> 32) port += 32, ports >>= 32;
  if (ports >> 16) port += 16, ports >>= 16;
  if (ports >> 8) port += 8, ports >>= 8;
  if (ports >> 4) port += 4, ports >>= 4;
  if (ports >> 2) port += 2, ports >>= 2;
  return port + (ports >> 1);
}

// Sends the frame to these ports. `is_last`: the frame is not used afterwards, so a single port
// needs no copy. `receiver`: the frame's destination address, if the kernel's metadata of the frame
// are right, so that the frame may skip the kernel's processing between a wire's ends
// (eth_type_trans()); otherwise null.
static __always_inline int send(struct __sk_buff* skb, tables_t* tables, __u64 ports,
                                int encapsulated, int is_last, const __u8* receiver) {
  if (!is_last || (ports & (ports - 1)) != 0) {
    send_copies(skb, tables, ports, encapsulated);
    return TC_ACT_SHOT;
  }
  const __u32 port = only_port_of(ports);
  const struct viaduct_port* output = bpf_map_lookup_elem(&rbridge_outputs, &port);
  if (!output || output->ifindex == 0 || port >= VIADUCT_RBRIDGE_PORTS) return TC_ACT_SHOT;
  if (encapsulated) put_source(skb, tables, port);
  if (!fits(skb, output->ifindex)) {
    count_not_sent(output->ifindex);
    return TC_ACT_SHOT;
  }
  // bpf_redirect_peer() delivers every frame as if it were sent to the receiving interface's
  // address, so the frame's destination is compared with that address first.
  const int is_theirs = output->is_wire && receiver && is_same_mac(receiver, output->far_mac);
  return is_theirs ? bpf_redirect_peer(output->ifindex, 0) : bpf_redirect(output->ifindex, 0);
}

static __always_inline int is_tagged(const struct inner* inner) {
  return vlan_of(inner) != DEFAULT_VLAN;
}

// Sends an untagged frame to terminals: with a tag unless its VLAN is the default VLAN.
static __always_inline int send_native(struct __sk_buff* skb, tables_t* tables,
                                       const struct decision* decision, int is_last, int is_known) {
  if (!is_tagged(&decision->inner)) {
    return send(skb, tables, decision->native, 0, is_last,
                is_known ? decision->inner.destination : 0);
  }
  if (bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021Q), bpf_ntohs(decision->inner.tci)) != 0) {
    return TC_ACT_SHOT;
  }
  return send(skb, tables, decision->native, 0, is_last, 0);
}

// Makes space for the headers of an encapsulated frame. Returns 0 on failure. Sets `is_known` to
// whether send() may get the receiver's address: bpf_skb_adjust_room(), which supports only IP,
// keeps the kernel's offset of the header behind the Ethernet header, but bpf_skb_change_head()
// does not.
static __always_inline int grow(struct __sk_buff* skb, int* is_known) {
  // The EtherType of the terminal's frame. bpf_skb_adjust_room() leaves it behind the addresses of
  // the outer Ethernet header, so it is written again.
  const __be16 type = skb->protocol;
  *is_known = bpf_skb_adjust_room(skb, GROWTH, BPF_ADJ_ROOM_MAC, KEEP_CHECKSUM) == 0;
  if (!*is_known) return bpf_skb_change_head(skb, GROWTH, 0) == 0;
  return bpf_skb_store_bytes(skb, sizeof(struct head), &type, sizeof type, 0) == 0;
}

// Sends a terminal's frame to the ports of the decision: first to terminals, then encapsulated,
// because the encapsulation lengthens the frame.
static __always_inline int send_terminals(struct __sk_buff* skb, tables_t* tables,
                                          const struct decision* decision) {
  struct head head = {decision->outer, decision->inner};
  int is_known = 0;
  if (bpf_skb_vlan_pop(skb) != 0) return TC_ACT_SHOT;
  if (skb->len < LEAST && !is_ip(skb->protocol) && bpf_skb_change_tail(skb, LEAST, 0) != 0) {
    return TC_ACT_SHOT;
  }
  if (decision->native) {
    const int action = send_native(skb, tables, decision, decision->encapsulated == 0, 1);
    if (decision->encapsulated == 0) return action;
    if (bpf_skb_vlan_pop(skb) != 0) return TC_ACT_SHOT;
  }
  if (!grow(skb, &is_known) || bpf_skb_store_bytes(skb, 0, &head, sizeof head, 0) != 0) {
    return TC_ACT_SHOT;
  }
  return send(skb, tables, decision->encapsulated, 1, 1,
              is_known ? decision->outer.destination : 0);
}

static __always_inline int move(struct __sk_buff* skb, __u32 from, __u32 to, __u32 size,
                                struct chunk* chunk) {
  return bpf_skb_load_bytes(skb, from, chunk->bytes, size) == 0 &&
         bpf_skb_store_bytes(skb, to, chunk->bytes, size, 0) == 0;
}

// Moves the bytes behind the inner tag forward, directly behind the first two addresses of the
// frame, and shortens the frame. Returns 0 on failure.
__noinline int strip(struct __sk_buff* skb, __u32 offset) {
  const __u32 zero = 0;
  struct chunk* chunk = bpf_map_lookup_elem(&rbridge_chunk, &zero);
  if (!chunk) return 0;
  const __u32 removed = offset + TAG_SIZE;
  const __u32 length = skb->len;
  __u32 to = ADDRESSES_SIZE;
  for (int i = 0; i < MAX_CHUNKS && to + removed + CHUNK <= length; ++i) {
    if (!move(skb, to + removed, to, CHUNK, chunk)) return 0;
    to += CHUNK;
  }
  const __u64 rest = below(CHUNK, length - removed - to);
  if (rest > 0 && rest < CHUNK && !move(skb, to + removed, to, rest, chunk)) return 0;
  return bpf_skb_change_tail(skb, length - removed, 0) == 0;
}

// Sets the frame's protocol in the kernel's metadata. To do so, inserts and removes two tags: the
// kernel sets the protocol when it removes a tag behind which there is another tag. Returns 0 on
// failure.
static __always_inline int note_protocol(struct __sk_buff* skb, __be16 type) {
  const __be16 tag = bpf_htons(ETH_P_8021Q);
  return bpf_skb_vlan_push(skb, tag, DEFAULT_VLAN) == 0 &&
         bpf_skb_vlan_push(skb, tag, DEFAULT_VLAN) == 0 &&
         bpf_skb_store_bytes(skb, ADDRESSES_SIZE + TAG_SIZE, &type, sizeof type, 0) == 0 &&
         bpf_skb_vlan_pop(skb) == 0 && bpf_skb_vlan_pop(skb) == 0;
}

// Removes the head for which grow() made space, but keeps the kernel's metadata of the terminal's
// packet. Returns 0 if the head cannot be removed, because the packet is not IP, or too short.
static __always_inline int shrink(struct __sk_buff* skb, const struct decision* decision) {
  struct ethhdr header;
  __builtin_memcpy(&header, &decision->inner, ADDRESSES_SIZE);
  const __u32 removed = decision->offset + TAG_SIZE;
  if (bpf_skb_load_bytes(skb, removed + ADDRESSES_SIZE, &header.h_proto, sizeof header.h_proto)) {
    return 0;
  }
  if (!is_ip(header.h_proto)) return 0;
  if ((__be16)skb->protocol != header.h_proto && !note_protocol(skb, header.h_proto)) return 0;
  return bpf_skb_adjust_room(skb, -(int)removed, BPF_ADJ_ROOM_MAC, KEEP_CHECKSUM) == 0 &&
         bpf_skb_store_bytes(skb, 0, &header, sizeof header, 0) == 0;
}

// Sends an encapsulated frame: first unchanged to other RBridges, then the inner frame to
// terminals.
static __always_inline int send_encapsulated(struct __sk_buff* skb, tables_t* tables,
                                             const struct decision* decision) {
  if (decision->encapsulated) {
    if (bpf_skb_store_bytes(skb, 0, &decision->outer, sizeof decision->outer, 0) != 0) {
      return TC_ACT_SHOT;
    }
    const int action = send(skb, tables, decision->encapsulated, 1, decision->native == 0,
                            decision->outer.destination);
    if (decision->native == 0) return action;
  }
  if (shrink(skb, decision)) return send_native(skb, tables, decision, 1, 1);
  if (!strip(skb, decision->offset) ||
      bpf_skb_store_bytes(skb, 0, &decision->inner, ADDRESSES_SIZE, 0) != 0) {
    return TC_ACT_SHOT;
  }
  return send_native(skb, tables, decision, 1, 0);
}

SEC("tc")
int viaduct_rbridge(struct __sk_buff* skb) {
  const __u32 zero = 0;
  const __u32 arrives = skb->ifindex;
  struct decision decision = {};
  struct viaduct_rbridge_interface* interface = bpf_map_lookup_elem(&rbridge_interfaces, &arrives);
  volatile struct viaduct_rbridge_shared* shared = bpf_map_lookup_elem(&rbridge_shared, &zero);
  if (!interface || !shared) return TC_ACT_SHOT;
  const __u64 version = shared->current;
  tables_t* tables = (tables_t*)&shared->copies[version & 1];
  __u32 outcome = decide(skb, tables, version, interface->port, &decision);
  // If the tables were overwritten while they were read, the frame is dropped.
  if (shared->begun > version + 1) outcome = VIADUCT_RBRIDGE_NO_ROUTE;
  if (outcome < VIADUCT_RBRIDGE_OUTCOMES) interface->frames[outcome] += 1;
  if (outcome == VIADUCT_RBRIDGE_CONTROL) return TC_ACT_UNSPEC;
  if (outcome != VIADUCT_RBRIDGE_FORWARDED) return TC_ACT_SHOT;
  interface->bytes += skb->len;
  return decision.offset == 0 ? send_terminals(skb, tables, &decision)
                              : send_encapsulated(skb, tables, &decision);
}

char viaduct_license[] SEC("license") = "GPL";
