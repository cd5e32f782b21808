/* Definitions shared by the eBPF program of an RBridge (WMRP; rbridge.bpf.c) and the C++ code
 * that loads it: in C, because both languages include this file.
 *
 * The tables are rbridge::Tables (plane/rbridge/tables.h) in the layout that
 * forward::RBridgeTablesWriter writes: the simulator maps the array map that holds the tables,
 * and writes them there. plane/fib/ebpf_rbridge.cc checks that the C and the C++ description
 * agree.
 */
#pragma once

#include <linux/types.h>

#define VIADUCT_RBRIDGE_PORTS 64
#define VIADUCT_RBRIDGE_ADJACENCIES 256
#define VIADUCT_RBRIDGE_ADJACENCY_SLOTS 512
#define VIADUCT_RBRIDGE_NODES 1024
#define VIADUCT_RBRIDGE_TREES 4
#define VIADUCT_RBRIDGE_TERMINAL_SLOTS 8192
#define VIADUCT_RBRIDGE_NONE 0xffff

/* The values of rbridge::Outcome, what became of a frame. */
enum viaduct_rbridge_outcome {
  VIADUCT_RBRIDGE_FORWARDED,
  VIADUCT_RBRIDGE_CONTROL,
  VIADUCT_RBRIDGE_NO_RECEIVER,
  VIADUCT_RBRIDGE_NOT_FOR_US,
  VIADUCT_RBRIDGE_NOT_SERVED,
  VIADUCT_RBRIDGE_LINK_LOCAL,
  VIADUCT_RBRIDGE_MALFORMED,
  VIADUCT_RBRIDGE_NO_ADJACENCY,
  VIADUCT_RBRIDGE_NO_ROUTE,
  VIADUCT_RBRIDGE_WRONG_PATH,
  VIADUCT_RBRIDGE_HOP_COUNT,
  VIADUCT_RBRIDGE_OPTION,
  VIADUCT_RBRIDGE_OUTCOMES
};

struct viaduct_rbridge_port {
  __u8 mac[6];
  __u8 exists;
  __u8 serves_terminals;
};

struct viaduct_rbridge_adjacency {
  __u8 mac[6];
  __u16 port;
};

struct viaduct_rbridge_entry {
  __u16 nickname;
  __u16 next_hop;
  __u16 tree_neighbour[VIADUCT_RBRIDGE_TREES];
};

struct viaduct_rbridge_tree {
  __u16 root;
  __u16 reserved[3];
  __u64 neighbours[VIADUCT_RBRIDGE_ADJACENCIES / 64];
};

struct viaduct_rbridge_terminal {
  __u64 key;
  __u16 rbridge;
  __u16 port;
  __u32 epoch;
};

struct viaduct_rbridge_tables {
  __u16 nickname;
  __u8 hop_count;
  __u8 own_tree;
  __u32 epoch;
  struct viaduct_rbridge_port ports[VIADUCT_RBRIDGE_PORTS];
  struct viaduct_rbridge_adjacency adjacencies[VIADUCT_RBRIDGE_ADJACENCIES];
  __u16 adjacency_slots[VIADUCT_RBRIDGE_ADJACENCY_SLOTS];
  struct viaduct_rbridge_entry rbridges[VIADUCT_RBRIDGE_NODES];
  __u16 by_nickname[65536];
  struct viaduct_rbridge_tree trees[VIADUCT_RBRIDGE_TREES];
  struct viaduct_rbridge_terminal terminals[VIADUCT_RBRIDGE_TERMINAL_SLOTS];
  __u64 terminal_count;
};

/* The shared memory of the tables, as described in plane/forward/rbridge_tables.h. */
struct viaduct_rbridge_shared {
  __u64 magic;
  __u64 size;
  __u64 begun;
  __u64 current;
  struct viaduct_rbridge_tables copies[2];
};

/* A port's interface, keyed by its ifindex. */
struct viaduct_rbridge_interface {
  __u32 port; /* the port's index in the tables */
  __u32 reserved;
  __u64 frames[VIADUCT_RBRIDGE_OUTCOMES]; /* frames that arrived, by outcome */
  __u64 bytes;                            /* bytes of forwarded frames */
  __u64 not_sent; /* frames to send through this interface that were too long or refused */
};

/* The C form of forward::Event: a terminal that was seen. */
struct viaduct_rbridge_event {
  __u64 key;
  __u64 value;
};

/* The event that was reported last. It is not reported again until the tables change. */
struct viaduct_rbridge_told {
  struct viaduct_rbridge_event event;
  __u64 version;
};
#define VIADUCT_RBRIDGE_TOLD 256
