// Passes frames from each wire's end in the fabric to the wire's other end. If all routers on a
// packet's path only forward the packet, passes the packet to the end of the last wire in one step.
// User space looks for the path of a key when the first packet of the key requests the path, and
// forgets the path when anything along it changes.
#include "plane/bpf/join.h"

#include "plane/bpf/packet.bpf.h"
#include "plane/bpf/random.bpf.h"

#define SMALLEST 1                // a placeholder: the loader sets the numbers of entries
#define LOOK_AGAIN 1000000000ull  // ns after which user space is asked to check a path again

// The ports, indexed by ifindex: the ifindexes of a lab are few and small.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, SMALLEST);
  __type(key, __u32);
  __type(value, struct viaduct_join_port);
} join_ports SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, SMALLEST);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, struct viaduct_join_key);
  __type(value, __u32);
} path_numbers SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, SMALLEST);
  __type(key, __u32);
  __type(value, struct viaduct_joined_path);
} joined_paths SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, SMALLEST);
  __type(key, __u32);
  __type(value, struct viaduct_loss_on_way);
} losses_on_way SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, SMALLEST);
  __type(key, __u32);
  __type(value, struct viaduct_joined_traffic);
} joined_traffic SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, SMALLEST);
  __type(key, __u32);
  __type(value, struct viaduct_wire_loss);
} wire_losses SEC(".maps");

// The number of the router that has an IPv4 address. This number modulo VIADUCT_ROUTER_BITS is the
// router's bit in viaduct_joined_path.routers.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, SMALLEST);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, __be32);
  __type(value, __u32);
} router_addresses SEC(".maps");

/* The number of ICMPv6 messages that arrived at this program and may have reported a path MTU to a
 * router. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} too_bigs SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 256 * 1024);
} join_requests SEC(".maps");

// Asks user space to look for the path of this key, or to check it for changes. If the ring is
// full, a later packet asks again.
static __always_inline void ask(const struct viaduct_join_key *key) {
  bpf_ringbuf_output(&join_requests, (void *)key, sizeof *key, 0);
}

static __always_inline int claims_to_be_router(const struct viaduct_joined_path *path,
                                               const struct bpf_fib_lookup *packet) {
  // The kernel forwards IPv6 packets from a router's address.
  if (packet->family != AF_INET) return 0;
  const __u32 *bit = bpf_map_lookup_elem(&router_addresses, &packet->ipv4_src);
  if (!bit) return 0;
  const __u32 number = *bit % VIADUCT_ROUTER_BITS;
  return path->routers[number / 64] >> number % 64 & 1;
}

static __always_inline void make_key(struct viaduct_join_key *key, __u32 port,
                                     const struct bpf_fib_lookup *packet) {
  key->port = port;
  key->tos = packet->family == AF_INET ? packet->tos & 0xfc : 0;
  if (packet->family == AF_INET) {
    __builtin_memset(key->destination, 0, 10);
    key->destination[10] = key->destination[11] = 0xff;
    __builtin_memcpy(key->destination + 12, &packet->ipv4_dst, 4);
  } else {
    __builtin_memcpy(key->destination, packet->ipv6_dst, 16);
  }
}

// Decides whether the wire with index `loss` loses this frame, and counts the frame. `bytes`: the
// length of the frame, with its Ethernet header.
static __always_inline int is_lost(__u32 loss, __u32 bytes) {
  struct viaduct_wire_loss *wire = bpf_map_lookup_elem(&wire_losses, &loss);
  if (!wire) return 0;
  bpf_spin_lock(&wire->lock);
  const int lost = next_random(wire->random) >> 11 < wire->threshold;
  wire->arrived += 1;
  wire->arrived_bytes += bytes;
  if (lost) {
    wire->lost += 1;
    wire->lost_bytes += bytes;
  }
  bpf_spin_unlock(&wire->lock);
  return lost;
}

static __always_inline void count(__u32 counter, __u32 bytes) {
  struct viaduct_joined_traffic *traffic = bpf_map_lookup_elem(&joined_traffic, &counter);
  if (!traffic) return;
  traffic->packets += 1;  // the counter of this processor
  traffic->bytes += bytes;
}

static __always_inline int is_lost_on_way(const struct viaduct_joined_path *path, __u32 bytes) {
  __u32 number = path->first_loss;
  for (int i = 0; i < VIADUCT_MOST_HOPS && number != VIADUCT_NO_LOSS; ++i) {
    const struct viaduct_loss_on_way *wire = bpf_map_lookup_elem(&losses_on_way, &number);
    if (!wire) return 0;
    if (is_lost(wire->loss, bytes)) {
      count(number, bytes);
      return 1;
    }
    number = wire->next;
  }
  return 0;
}

static __always_inline int is_same_key(const struct viaduct_join_key *a,
                                       const struct viaduct_join_key *b) {
  const __u64 *words = (const __u64 *)a, *others = (const __u64 *)b;
  return words[0] == others[0] && words[1] == others[1] && words[2] == others[2];
}

// Returns the path of the key, or null if user space has not looked for the path yet. Compares the
// key that is stored with the path, because the path's number from the hash map may have been
// reused for another key if this processor was delayed.
static __always_inline struct viaduct_joined_path *find_path(const struct viaduct_join_key *key,
                                                             __u32 *number) {
  const __u32 *found = bpf_map_lookup_elem(&path_numbers, key);
  if (!found) return 0;
  *number = *found;
  struct viaduct_joined_path *path = bpf_map_lookup_elem(&joined_paths, number);
  return path && is_same_key(&path->key, key) ? path : 0;
}

// Returns whether the packet is a "Packet Too Big" message (RFC 4443, 3.2), or may be such a
// message behind extension headers.
static __always_inline int may_be_too_big(const struct __sk_buff *skb) {
  const struct ethhdr *frame = (void *)(long)skb->data;
  const struct ipv6hdr *ip = (void *)(frame + 1);
  const struct icmp6hdr *icmp = (void *)(ip + 1);
  const void *end = (void *)(long)skb->data_end;
  if ((void *)(icmp + 1) > end || frame->h_proto != bpf_htons(ETH_P_IPV6)) return 0;
  return ip->nexthdr != IPPROTO_ICMPV6 || icmp->icmp6_type == ICMPV6_PKT_TOOBIG;
}

static __always_inline __u64 *too_big_counter(void) {
  const __u32 first = 0;
  return bpf_map_lookup_elem(&too_bigs, &first);
}

// Returns whether the packet may be longer than a path MTU that was reported to a router of the
// path. A router that forwards IPv6 obeys path MTUs that were reported to it
// (net/ipv6/ip6_output.c, ip6_forward()), none of which is less than the minimum MTU of a link.
static __always_inline int may_be_long(const struct viaduct_joined_path *path,
                                       const struct bpf_fib_lookup *packet) {
  if (packet->family != AF_INET6 || packet->tot_len <= IPV6_MIN_MTU) return 0;
  const __u64 *counter = too_big_counter();
  return !counter || *counter != path->too_bigs;
}

// Returns VIADUCT_JOINED if the frame can be sent over all hops of `path` in one step, otherwise
// the reason why it cannot.
static __always_inline enum viaduct_join_outcome decide(const struct __sk_buff *skb,
                                                        const struct viaduct_join_port *port,
                                                        struct viaduct_joined_path **path,
                                                        __u32 *number) {
  struct bpf_fib_lookup packet = {};
  __u8 ttl = 0;
  const struct ethhdr *frame = (void *)(long)skb->data;
  if ((void *)(frame + 1) > (void *)(long)skb->data_end) return VIADUCT_JOIN_NOT_IP;
  if (!is_same_mac(frame->h_dest, port->far_mac)) return VIADUCT_JOIN_OTHER;
  const enum viaduct_outcome read = read_packet(skb, &packet, &ttl);
  if (read != VIADUCT_FORWARDED && may_be_too_big(skb)) {
    __u64 *counter = too_big_counter();
    if (counter) __sync_fetch_and_add(counter, 1);
  }
  if (read == VIADUCT_NOT_IP) return VIADUCT_JOIN_NOT_IP;
  if (read == VIADUCT_TTL_EXPIRES) return VIADUCT_JOIN_EXPIRES;
  if (read != VIADUCT_FORWARDED) return VIADUCT_JOIN_UNUSUAL;
  struct viaduct_join_key key __attribute__((aligned(8)));
  make_key(&key, skb->ifindex, &packet);
  *path = find_path(&key, number);
  if (!*path) {
    ask(&key);
    return VIADUCT_JOIN_UNKNOWN;
  }
  const __u64 now = bpf_ktime_get_coarse_ns();
  if (now - (*path)->looked > LOOK_AGAIN) {
    (*path)->looked = now;
    ask(&key);
  }
  if ((*path)->hops == 0) return VIADUCT_JOIN_BY_HOP;
  if (!is_same_mac(frame->h_dest, (*path)->enters)) return VIADUCT_JOIN_OTHER;
  if (ttl <= (*path)->hops) return VIADUCT_JOIN_EXPIRES;
  if (packet.tot_len > (*path)->mtu) return VIADUCT_JOIN_TOO_LONG;
  if (may_be_long(*path, &packet)) {
    ask(&key);
    return VIADUCT_JOIN_MAYBE_LONG;
  }
  if ((*path)->first_loss != VIADUCT_NO_LOSS && skb->gso_size) return VIADUCT_JOIN_SEGMENTS;
  return claims_to_be_router(*path, &packet) ? VIADUCT_JOIN_OWN_SOURCE : VIADUCT_JOINED;
}

// Passes a frame to the wire's other end. bpf_redirect_peer() delivers every frame as if it were
// sent to the receiving interface's address; after bpf_redirect() the receiver checks the address.
static __always_inline int pass_on(const struct __sk_buff *skb,
                                   const struct viaduct_join_port *port) {
  const struct ethhdr *frame = (void *)(long)skb->data;
  const int is_theirs = (void *)(frame + 1) <= (void *)(long)skb->data_end &&
                        is_same_mac(frame->h_dest, port->far_mac);
  return is_theirs ? bpf_redirect_peer(port->other, 0) : bpf_redirect(port->other, 0);
}

SEC("tc")
int viaduct_join(struct __sk_buff *skb) {
  const __u32 arrives = skb->ifindex;
  struct viaduct_join_port *port = bpf_map_lookup_elem(&join_ports, &arrives);
  if (!port || !port->other) return TC_ACT_UNSPEC;
  if (port->loss && is_lost(port->loss - 1, skb->len)) return TC_ACT_SHOT;
  struct viaduct_joined_path *path = 0;
  __u32 number = 0;
  const enum viaduct_join_outcome outcome = decide(skb, port, &path, &number);
  if (outcome < VIADUCT_JOIN_OUTCOMES) __sync_fetch_and_add(&port->packets[outcome], 1);
  if (outcome != VIADUCT_JOINED || !path) return pass_on(skb, port);
  if (is_lost_on_way(path, skb->len)) return TC_ACT_SHOT;
  count(number, skb->len);
  rewrite(skb, path->destination, path->source, path->hops);
  return bpf_redirect_peer(path->exit, 0);
}

char viaduct_license[] SEC("license") = "GPL";
