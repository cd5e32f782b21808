"""For each key of the scenario file: the rest of a scenario, and a value that differs from it."""

from __future__ import annotations

from dataclasses import dataclass

BASE = """
duration: 200ms
nodes: {count: 2, n0: {}, h: {host: true, gateway: n0}, c: {remote: any, gateway: n0}}
links:
  - {pair: [n0, n1], name: core}
  - {pair: [h, n0], name: edge}
  - {pair: [c, n0], name: client}
routing: {protocol: static}
"""
"""Of every probe; `c` has its programs elsewhere in a hub."""


@dataclass(frozen=True)
class Probe:
    """Overrides: those of the scenario without the key, then the one with it."""

    change: str
    beside: tuple[str, ...] = ()


PING = "flows=[{type: ping, from: n0, to: n1, interval: 20ms, duration: 100ms}]"
UDP = "flows=[{type: udp, from: n0, to: n1, rate: 1Mbit, duration: 100ms}]"
TCP = (
    "duration=1s",
    "flows=[{type: tcp, from: n0, to: n1, duration: 1s}]",
    "links.0.spec=rate=10Mbit delay=5ms loss=1%",
)
KERNEL = "stack=kernel"
PROGRAM = "programs=[{node: n1, command: 'true'}]"
FRAMES = (
    "nodes={n0: {}, n1: {}, h: {host: true}, g: {host: true}, i: {host: true}, c: {remote: any}}",
    "links=[{pair: [n0, n1], name: core}, {pair: [h, n0]}, {pair: [g, n1]}, {pair: [i, n1]}, "
    "{pair: [c, n1]}]",
    "routing={protocol: none}",
    "captures=all",
    "flows=[{type: ping, from: h, to: g, interval: 20ms, duration: 100ms}]",
    "data_plane={program: bridge}",
)
WIFI = (
    "links.0={wifi: {nodes: [n0, n1]}, name: core}",
    "flows=[{type: ping, from: n0, to: n1, interval: 20ms}]",
    "mobility={layout: line, spacing: 10}",
)
MOVING = (
    *WIFI[:2],
    "mobility={layout: random, area: [50, 50], model: 'ns3::RandomWalk2dMobilityModel'}",
)
GROUP = (
    "nodes={count: 3, h: {host: true, gateway: n0}, c: {remote: any}}",
    "links=[{pair: [n0, n1], name: core}, {pair: [n1, n2], name: more}, "
    "{pair: [h, n0], name: edge}, {pair: [c, n0]}]",
    "flows=[{type: udp, from: n0, to: n2, group: 239.1.1.1, rate: 100kbit, duration: 100ms}]",
)
MORE = (
    "links=[{pair: [n0, n1], name: core}, {pair: [n1, n2], name: more}, "
    "{pair: [h, n0], name: edge}, {pair: [c, n1], name: client}]"
)
ROUTED = (*GROUP, "multicast=[{node: n1, source: n0, group: 239.1.1.1, from: core, to: [more]}]")
EVENT = (PING, "events=[{at: 50ms, link: core, state: down}]")
SPEC = (PING, "links.0.spec=delay=1ms")
MACHINES = "machines={x: {address: 192.0.2.1}, y: {address: 192.0.2.2}}"
CLASSES = "links.0.classes=[{name: some, filter: icmp, spec: delay=30ms}]"
OLSR = ("routing={protocol: OLSR}", "convergence={required: false, timeout: 20s}")


def third(link: str) -> str:
    """A link beside those of BASE."""
    own = "{pair: [n0, n1], name: core}, {pair: [h, n0], name: edge}, {pair: [c, n0]}"
    return f"links=[{own}, {link}]"


PROBES = {
    "name": Probe("name=other"),
    "seed": Probe("seed=5", (PING, "links.0.spec=loss=50%")),
    "duration": Probe(
        "duration=400ms", ("flows=[{type: ping, from: n0, to: n1, interval: 20ms}]",)
    ),
    "mode": Probe("mode=emulate"),
    "data_plane": Probe("data_plane=ebpf"),
    "data_plane.program": Probe("data_plane={program: hub}", FRAMES),
    "stack": Probe("stack=kernel", TCP),
    "kernel_memory": Probe("kernel_memory=96", (KERNEL, PING)),
    "guests": Probe("guests=process", (KERNEL, PING)),
    "routing": Probe("routing={protocol: OLSR}", (PING,)),
    "routing.protocol": Probe("routing.protocol=OLSR", (PING,)),
    "routing.attributes": Probe("routing.attributes={HnaInterval: 1s}", OLSR),
    "routing.sample": Probe("routing.sample=100ms"),
    "convergence": Probe(
        "convergence={required: false, timeout: 1s}", ("routing={protocol: OLSR}",)
    ),
    "convergence.timeout": Probe("convergence.timeout=1s", OLSR),
    "convergence.required": Probe(
        "convergence.required=true", (OLSR[0], "convergence={required: false, timeout: 100ms}")
    ),
    "timing": Probe("timing={lateness_limit: 1s}"),
    "timing.lateness_limit": Probe("timing.lateness_limit=1s"),
    "hub": Probe("hub={readers: 2}"),
    "hub.readers": Probe("hub.readers=2"),
    "hub.queue": Probe("hub.queue=5000"),
    "machines": Probe(MACHINES),
    "hosts": Probe(MACHINES.replace("machines", "hosts")),
    "machines.NAME": Probe("machines.x={address: 192.0.2.9}", (MACHINES,)),
    "machines.NAME.address": Probe("machines.x.address=192.0.2.9", (MACHINES,)),
    "machines.NAME.login": Probe("machines.x.login=me@x.example", (MACHINES,)),
    "nodes": Probe(
        "nodes={count: 3, h: {host: true, gateway: n0}, c: {remote: any}}",
        ("links=[{line: all}, {pair: [h, n0]}, {pair: [c, n0]}]",),
    ),
    "nodes.count": Probe(
        "nodes.count=3", ("links=[{line: all}, {pair: [h, n0]}, {pair: [c, n0]}]",)
    ),
    "nodes.NAME": Probe("nodes.n1={loopback: 10.255.0.9}", ("captures=all",)),
    "nodes.NAME.host": Probe("nodes.n1={host: true, gateway: n0}", (*OLSR, "captures=[core]")),
    "nodes.NAME.gateway": Probe(
        "nodes.h.gateway=n1",
        (
            third("{pair: [h, n1]}"),
            "flows=[{type: ping, from: h, to: n1, interval: 20ms, duration: 100ms, address: core}]",
            "captures=all",
        ),
    ),
    "nodes.NAME.routing": Probe("nodes.n1.routing=none", OLSR),
    "nodes.NAME.data_plane": Probe("nodes.n1.data_plane=kernel"),
    "nodes.NAME.data_plane.program": Probe("nodes.n1.data_plane={program: hub}", FRAMES),
    "nodes.NAME.stack": Probe("nodes.n1.stack=kernel", TCP),
    "nodes.NAME.sysctls": Probe(
        "nodes.n1.sysctls={net.ipv4.icmp_echo_ignore_all: '1'}", (PING, KERNEL)
    ),
    "nodes.NAME.interfaces": Probe("nodes.n1.interfaces=[vdnone0]"),
    "nodes.NAME.container": Probe("nodes.h.container=vdnone"),
    "nodes.NAME.remote": Probe("nodes.c.remote=192.0.2.7"),
    "nodes.NAME.vni": Probe("nodes.c.vni=9"),
    "nodes.NAME.loopback": Probe("nodes.n1.loopback=10.255.0.9", (PING, "captures=[core]")),
    "nodes.NAME.on_host": Probe("nodes.n1.on_host=y", (MACHINES, "nodes.n1.on_host=x")),
    "nodes.NAME.on_machine": Probe("nodes.n1.on_machine=y", (MACHINES, "nodes.n1.on_machine=x")),
    "nodes.NAME.position": Probe("nodes.n1.position=[90, 5.5, 2]", WIFI),
    "nodes.NAME.waypoints": Probe("nodes.n1.waypoints=[0s 10 0, 100ms 100000 0]", WIFI),
    "mobility": Probe("mobility={layout: line, spacing: 1000}", WIFI),
    "mobility.layout": Probe(
        "mobility={layout: grid, spacing: 10}", (*WIFI, "links.0.wifi.nodes=[n0, n1, h]")
    ),
    "mobility.spacing": Probe("mobility.spacing=1000", WIFI),
    "mobility.area": Probe("mobility.area=[20, 20]", MOVING),
    "mobility.model": Probe("mobility.model=ns3::RandomDirection2dMobilityModel", MOVING),
    "mobility.attributes": Probe("mobility.attributes={Mode: Time, Time: 10ms}", MOVING),
    "links": Probe(third("{pair: [h, n1]}"), ("captures=all",)),
    "links[].pair": Probe("links.0.pair=[n1, n0]", (PING, "captures=all")),
    "links[].line": Probe(third("{line: [h, n1]}"), ("captures=all",)),
    "links[].ring": Probe(third("{ring: [n1, n0, h]}"), ("captures=all",)),
    "links[].grid": Probe(
        third("{grid: {columns: 2, rows: 1, nodes: [h, n1]}}"), ("captures=all",)
    ),
    "links[].grid.columns": Probe(
        "links.3.grid={columns: 4, rows: 1, nodes: [n0, n2, n1, n3]}",
        (
            "nodes={count: 4, h: {host: true, gateway: n0}, c: {remote: any}}",
            third("{grid: {columns: 2, rows: 2, nodes: [n0, n2, n1, n3]}}"),
            "captures=all",
        ),
    ),
    "links[].grid.rows": Probe(
        "links.3.grid={columns: 1, rows: 4, nodes: [n0, n2, n1, n3]}",
        (
            "nodes={count: 4, h: {host: true, gateway: n0}, c: {remote: any}}",
            third("{grid: {columns: 2, rows: 2, nodes: [n0, n2, n1, n3]}}"),
            "captures=all",
        ),
    ),
    "links[].grid.nodes": Probe(
        "links.3.grid.nodes=[n1, n0]",
        (
            third("{grid: {columns: 2, rows: 1, nodes: [h, n1]}}"),
            "captures=all",
        ),
    ),
    "links[].star": Probe(third("{star: {center: n1, leaves: [h]}}"), ("captures=all",)),
    "links[].star.center": Probe(
        "links.3.star.center=n0",
        (
            third("{star: {center: n1, leaves: [h]}}"),
            "captures=all",
        ),
    ),
    "links[].star.leaves": Probe(
        "links.3.star.leaves=[n0]",
        (
            third("{star: {center: n1, leaves: [h]}}"),
            "captures=all",
        ),
    ),
    "links[].shared": Probe(third("{shared: [h, n1]}"), ("captures=all",)),
    "links[].wifi": Probe(
        "links.0={wifi: {nodes: [n0, n1]}, name: core}",
        (
            "mobility={layout: line, spacing: 10}",
            "flows=[{type: ping, from: n0, to: n1, interval: 20ms}]",
        ),
    ),
    "links[].wifi.nodes": Probe("links.0.wifi.nodes=[n1, n0, h]", WIFI),
    "links[].wifi.standard": Probe("links.0.wifi.standard=80211b", WIFI),
    "links[].wifi.access_point": Probe("links.0.wifi.access_point=n1", WIFI),
    "links[].wifi.rate": Probe("links.0.wifi.rate=OfdmRate6Mbps", WIFI),
    "links[].wifi.range": Probe("links.0.wifi.range=5", WIFI),
    "links[].wifi.attributes": Probe(
        "links.0.wifi.attributes={TxPowerStart: -90, TxPowerEnd: -90}", WIFI
    ),
    "links[].interface": Probe(third("{interface: vdnone0, node: n1, addresses: [10.9.1.1/24]}")),
    "links[].node": Probe(
        "links.3.node=n0", (third("{interface: vdnone0, node: n1, addresses: [10.9.1.1/24]}"),)
    ),
    "links[].name": Probe(
        "links.0.name=uplink",
        (
            PING,
            "captures=all",
        ),
    ),
    "links[].spec": Probe("links.0.spec=delay=30ms", (PING,)),
    "links[].up": Probe("links.0.up=delay=30ms", (PING,)),
    "links[].down": Probe("links.0.down=delay=30ms", (PING,)),
    "links[].classes": Probe(CLASSES, (PING, "links.0.spec=delay=1ms")),
    "links[].classes[].name": Probe("links.0.classes.0.name=other", (PING, CLASSES)),
    "links[].classes[].filter": Probe("links.0.classes.0.filter=udp", (PING, CLASSES)),
    "links[].classes[].spec": Probe("links.0.classes.0.spec=delay=50ms", (PING, CLASSES)),
    "links[].classes[].up": Probe("links.0.classes.0.up=delay=50ms", (PING, CLASSES)),
    "links[].classes[].down": Probe("links.0.classes.0.down=delay=50ms", (PING, CLASSES)),
    "links[].emulator": Probe("links.0.emulator=kernel", (PING, "links.0.spec=rate=10Mbit")),
    "links[].mtu": Probe(
        "links.0.mtu=600", ("flows=[{type: ping, from: n0, to: n1, size: 1400, interval: 20ms}]",)
    ),
    "links[].addresses": Probe(
        "links.0.addresses=[10.9.0.1/24, 10.9.0.2/24]", (PING, "captures=[core]")
    ),
    "emulator": Probe("emulator=kernel", (PING, "links.0.spec=rate=10Mbit")),
    "addressing": Probe("addressing={ipv4: 172.16.0.0/12}", (PING, "captures=[core]")),
    "addressing.ipv4": Probe("addressing.ipv4=172.16.0.0/12", (PING, "captures=[core]")),
    "addressing.ipv6": Probe(
        "addressing.ipv6='fd00::/48'",
        ("addressing={ipv4: none, ipv6: 'fd01::/48'}", PING, "captures=[core]"),
    ),
    "addressing.loopback": Probe("addressing.loopback=10.255.0.0/16", (PING, "captures=[core]")),
    "multicast": Probe(ROUTED[-1], GROUP),
    "multicast[].node": Probe(
        "multicast.0={node: n0, source: n0, group: 239.1.1.1, from: core, to: [edge]}", ROUTED
    ),
    "multicast[].source": Probe("multicast.0.source=10.9.9.9", ROUTED),
    "multicast[].group": Probe("multicast.0.group=239.1.1.2", ROUTED),
    "multicast[].from": Probe(
        "multicast.0={node: n1, source: n0, group: 239.1.1.1, from: more, to: [core]}", ROUTED
    ),
    "multicast[].to": Probe(
        "multicast.0.to=[more, client]", (GROUP[0], MORE, *ROUTED[2:], "captures=all")
    ),
    "flows": Probe(PING),
    "flows[].type": Probe(
        "flows.0.type=tcp",
        ("duration=1s", "flows=[{type: udp, from: n0, to: n1, rate: 1Mbit, duration: 1s}]"),
    ),
    "flows[].name": Probe("flows.0.name=video", (PING,)),
    "flows[].from": Probe("flows.0.from=h", (PING,)),
    "flows[].to": Probe("flows.0.to=h", (PING,)),
    "flows[].address": Probe(
        "flows.0.address=ipv6",
        (
            "addressing.ipv6='fd00::/48'",
            "flows=[{type: ping, from: n0, to: n1, interval: 20ms, duration: 100ms}]",
        ),
    ),
    "flows[].group": Probe(
        GROUP[-1],
        (*GROUP[:2], "flows=[{type: udp, from: n0, to: n2, rate: 100kbit, duration: 100ms}]"),
    ),
    "flows[].link": Probe("flows.0.link=edge", ROUTED),
    "flows[].size": Probe("flows.0.size=1000", (UDP,)),
    "flows[].rate": Probe("flows.0.rate=2Mbit", (UDP,)),
    "flows[].interval": Probe("flows.0.interval=10ms", (PING,)),
    "flows[].start": Probe("flows.0.start=100ms", (UDP,)),
    "flows[].duration": Probe("flows.0.duration=50ms", (UDP,)),
    "traffic": Probe(PING.replace("flows", "traffic")),
    "programs": Probe(PROGRAM, (KERNEL,)),
    "programs[].name": Probe("programs.0.name=list", (KERNEL, PROGRAM)),
    "programs[].node": Probe("programs.0.node=n0", (KERNEL, PROGRAM)),
    "programs[].command": Probe("programs.0.command='false'", (KERNEL, PROGRAM)),
    "programs[].start": Probe(
        "programs.0.start=100ms", (KERNEL, "programs=[{node: n1, command: 'cat /proc/uptime'}]")
    ),
    "programs[].timeout": Probe(
        "programs.0.timeout=20ms", (KERNEL, "programs=[{node: n1, command: sleep 0.1}]")
    ),
    "programs[].background": Probe(
        "programs.0.background=true", (KERNEL, "programs=[{node: n1, command: sleep 10}]")
    ),
    "programs[].expect": Probe("programs.0.expect=1", (KERNEL, PROGRAM)),
    "programs[].new_privileges": Probe("programs.0.new_privileges=true", (KERNEL, PROGRAM)),
    "programs[].environment": Probe(
        "programs.0.environment={A: b}", (KERNEL, "programs=[{node: n1, command: env}]")
    ),
    "events": Probe(EVENT[1], (PING,)),
    "events[].at": Probe("events.0.at=10ms", EVENT),
    "events[].link": Probe("events.0.link=edge", EVENT),
    "events[].state": Probe("events.0.state=up", EVENT),
    "events[].set": Probe("events=[{at: 20ms, link: core, set: delay=30ms}]", SPEC),
    "events[].up": Probe("events=[{at: 20ms, link: core, up: delay=30ms}]", SPEC),
    "events[].down": Probe("events=[{at: 20ms, link: core, down: delay=30ms}]", SPEC),
    "events[].capture": Probe("events=[{at: 20ms, link: core, capture: start}]", (PING,)),
    "captures": Probe("captures=[core]", (PING,)),
    "state": Probe("state={interval: 10ms}", (KERNEL,)),
    "state.nodes": Probe("state.nodes=[n0]", (KERNEL, "state={nodes: all}")),
    "state.interval": Probe("state.interval=1ms", (KERNEL, "state={nodes: all}")),
}
"""By the key, as in docs/scenario.md."""
