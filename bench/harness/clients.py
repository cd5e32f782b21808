"""Benchmark `clients`: many remote applications on a simulated network (2009 paper)."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import hosts as several_hosts
from . import quota
from .analysis import Ratio, confirm_loss_free, find_loss_free, ratio_of_rounds
from .plan import Plan
from .process import BenchError, Child
from .results import Result, measured, read_csv
from .session import FORWARDER_CPU, SENDER_CPU, Namespace, Session, frames_only, join

NOTES = [
    "The source host, the emulation host and the destination host are namespaces of one machine. "
    "The applications and both tunnellers are on CPU 0, the hub and its simulation on CPU 1; what "
    "arrives at the destination host is taken from the network on CPU 0 (receive packet steering).",
    "Each of N links of 10 ms (no rate, no loss) in the simulation connects two clients. "
    "Applications send to all of them in turn, equal shares of the offered load.",
    "vxlan: clients are VXLAN interfaces of the hosts' kernels. tapudp: TAP interfaces and a "
    "process that polls one after the other, and the socket for one packet a round, as the ns-2 "
    "Distributed Clients Extension has it; modified: one packet for each TAP polled. The hub and "
    "the simulation are the same for all, so the ratio is that of the tunnels.",
    "The datagrams of vxlan's clients are sent to the hub by one process that encapsulates them as "
    "their kernel would, which takes less of this machine than 250 interfaces; probes go through "
    "the interfaces, and tapudp's datagrams through its TAPs. Without a tunnel that process sends "
    "the same frames, and clients are MACVLAN interfaces.",
    "hosts2_vs_1: a line of 16 nodes on one host, and on two, each with half of it. Hosts are "
    "namespaces joined by a cable; each has one processor, as the second one takes in on CPU 1 "
    "what comes from the first. Beside it: both on one processor.",
    "Twice saturation: there the hub has a share of CPU 1 (cgroup), because with all of it what "
    "limits is CPU 0, which both sends and receives, and the load could not be offered. Saturation "
    "is the most that arrives with 10 clients at any load.",
    "Throughput is what arrives at the destinations' interfaces in the last seconds of a trial; "
    "added RTT: a probe's, less 20 ms.",
]
_HUBS = {"source": "198.51.100.254", "destination": "203.0.113.254"}
_HOSTS = {"source": "198.51.100.1", "destination": "203.0.113.1"}
_PORT = 4789
_LINK = 0.020  # round-trip delay of the simulated link, seconds
_THOUSAND, _MANY, _FEW = 1000, 250, 10
_THOUSAND_SECONDS = 90.0  # seconds, mostly to create and remove 2,000 interfaces
WORK = ("reading", "writing", "events")  # kinds of work of the simulator's loop
_PAPER_SIZE = 500  # bytes of UDP payload: the paper's experiment 2
_SIZES = (58, 500, 1000, 1472)
# The number of probes a second in total, for any number of clients. A probe and its answer pass the
# hub as datagrams do, so 20 probes a second to each of 250 clients (5,000) would be a load that 10
# clients do not cause.
_PROBES = 1_000
_PROBES_OF_DELAYS = 5_000
_LOADS = (100_000, 200_000, 400_000)  # packets a second to offer, around the saturation
_HUB_SHARE = 0.25  # share of a processor that makes the hub the bottleneck


@dataclass(frozen=True)
class Tunnel:
    """How clients' frames get to the hub."""

    name: str
    label: str


VXLAN = Tunnel("vxlan", "VXLAN interfaces of the kernel")
TAPUDP = Tunnel("original", "tapudp: TAPs polled in turn")
MODIFIED = Tunnel("modified", "tapudp, modified")
BARE = Tunnel("bare", "no tunnel: two interfaces of the emulation host")


@dataclass
class Trial:
    """What one trial showed."""

    offered_pps: float
    received: list[float]  # packets a second, one element per client
    added_rtt_ms: list[float | None]  # the mean, one element per client
    probes: int
    probes_lost: int
    lost: float  # share of the sent datagrams, counted after the last one had arrived
    seconds: float  # duration of the traffic
    hub: dict[str, object] = field(repr=False)

    @property
    def received_pps(self) -> float:
        """All clients'."""
        return sum(self.received)

    @property
    def loop(self) -> dict[str, float]:
        """Shares of the simulator's time, by activity; the rest it waited.

        It worked while there was traffic only: before and after it waits.
        """
        spent = self.hub.get("loop", {})
        assert isinstance(spent, dict)
        return {name: spent[name] / self.seconds for name in WORK if name in spent}

    @property
    def jain(self) -> float:
        """Jain's fairness index of what they received (Jain, Chiu, Hawe 1984)."""
        squares = sum(rate * rate for rate in self.received)
        return self.received_pps**2 / (len(self.received) * squares) if squares else 0.0

    @property
    def rtt_spread(self) -> float | None:
        """The 99th percentile over clients of the added round trip / the median."""
        known = sorted(rtt for rtt in self.added_rtt_ms if rtt is not None)
        if len(known) < len(self.added_rtt_ms):
            return None
        return known[int(0.99 * (len(known) - 1))] / known[len(known) // 2]


@dataclass
class Hosts:
    """The three hosts."""

    source: Namespace
    hub: Namespace
    destination: Namespace


def addresses(client: int) -> list[str]:
    """Of the first client (number 0, 1, ...) and the second one on its link."""
    place = 4 * client
    return [f"10.0.{place // 256}.{place % 256 + end}" for end in (1, 2)]


def scenario(name: str, clients: int) -> str:
    """The hub's file; JSON is YAML."""
    nodes = {f"a{i}": {"remote": _HOSTS["source"]} for i in range(clients)}
    nodes |= {f"b{i}": {"remote": _HOSTS["destination"]} for i in range(clients)}
    links = [{"pair": [f"a{i}", f"b{i}"], "spec": "delay=10ms"} for i in range(clients)]
    routing = {"protocol": "static"}
    return json.dumps({"name": name, "nodes": nodes, "links": links, "routing": routing})


def _hosts(session: Session) -> Hosts:
    made = Hosts(*(session.namespace(name) for name in ("source", "hub", "destination")))
    for side, host in (("source", made.source), ("destination", made.destination)):
        join(made.hub, side[:8], host, "eth0")
        made.hub.ip([f"addr add {_HUBS[side]}/24 dev {side[:8]}", f"link set {side[:8]} mtu 1600"])
        host.ip([f"addr add {_HOSTS[side]}/24 dev eth0", "link set eth0 mtu 1600"])
    # client-load passes many datagrams to the kernel at once, so the interface must send them one
    # by one; its probes are pings, which need net.ipv4.ping_group_range.
    frames_only(made.source, "eth0")
    made.source.sysctl(["net.ipv4.ping_group_range=0 2147483647"])
    steer = f"echo {1 << SENDER_CPU} > /sys/class/net/eth0/queues/rx-0/rps_cpus"
    made.destination.run(["ip", "netns", "exec", made.destination.name, "sh", "-c", steer])
    return made


def _attach(session: Session, hosts: Hosts, tunnel: Tunnel, clients: int) -> None:
    """Every client's interface on the host of its side."""
    sides = (("source", hosts.source, 0), ("destination", hosts.destination, 1))
    for side, host, end in sides:
        device = "tap{}"
        lines = []
        first = 1 + end * clients
        if tunnel is BARE:
            device = "m{}"
            lines = [f"link add m{i + 1} link eth0 type macvlan" for i in range(clients)]
        elif tunnel is VXLAN:
            device = "v{}"
            lines = [
                f"link add v{i + 1} type vxlan id {first + i} remote {_HUBS[side]} dstport {_PORT}"
                for i in range(clients)
            ]
        else:
            program = [session.program("tapudp"), tunnel.name, _HUBS[side]]
            command = host.command([*program, str(_PORT), str(clients), str(first)], SENDER_CPU)
            session.start(command).expect("ready", "stdout")
        for i in range(clients):
            name = device.format(i + 1)
            mac = f"02:{1 - end:02}:00:00:{(i + 1) >> 8:02x}:{(i + 1) & 255:02x}"
            lines.append(f"link set {name} address {mac}")
            lines.append(f"addr add {addresses(i)[end]}/30 dev {name}")
            lines.append(f"link set {name} mtu 1500 up")
        host.ip(lines)


def _count(sink: Child) -> tuple[float, list[int]]:
    sink.say("count")
    assert sink.process.stdout
    seen = json.loads(sink.process.stdout.readline())
    return seen["time"], seen["received"]


def _emulation(
    session: Session,
    hosts: Hosts,
    tunnel: Tunnel,
    clients: int,
    report: Path,
    group: quota.Quota | None,
) -> Child:
    """The simulation of the links, once it takes frames, with the group's share of a processor."""
    if tunnel is BARE:
        # The ports of ns3-links are the interfaces themselves, which need no addresses.
        hosts.hub.ip([f"addr flush dev {side[:8]}" for side in _HUBS])
        for side in _HUBS:
            frames_only(hosts.hub, side[:8])
        program = [session.program("ns3-links"), f"--links={clients}"]
        sides = zip(("left", "right"), _HUBS, strict=True)
        program += [f"--{end}={side[:8]}" for end, side in sides]
        links = session.start(hosts.hub.command(program, FORWARDER_CPU))
        links.expect("ready", "stdout")
        return links
    file = session.directory / "clients.yaml"
    file.write_text(scenario("clients", clients))
    report.unlink(missing_ok=True)
    command = [str(session.viaduct), "hub", str(file), "--json", str(report)]
    if group is not None:
        command = group.command(command)
    hub = session.start(hosts.hub.command(command, FORWARDER_CPU))
    hub.expect("hub clients")
    return hub


def _trial(
    session: Session,
    tunnel: Tunnel,
    clients: int,
    pps: float,
    size: int,
    seconds: float,
    warm_up: float = 1.0,
    probes: int = _PROBES,
    share: float | None = None,
) -> Trial:
    with (
        quota.quota(share) if share else contextlib.nullcontext() as group,
        session.scope(),
    ):
        hosts = _hosts(session)
        report = session.directory / "clients.json"
        emulation = _emulation(session, hosts, tunnel, clients, report, group)
        _attach(session, hosts, tunnel, clients)
        pairs = session.directory / "clients.pairs"
        pairs.write_text("".join(" ".join(addresses(i)) + "\n" for i in range(clients)))
        load = session.program("client-load")
        sink = session.start(
            hosts.destination.command([load, "sink", str(pairs)], SENDER_CPU), subprocess.PIPE
        )
        _, at_first = _count(sink)
        rest = [str(value) for value in (pps, size, warm_up + seconds, warm_up, probes)]
        rest += {VXLAN: [_HUBS["source"]], BARE: ["dev:eth0"]}.get(tunnel, [])
        source = session.start(
            hosts.source.command([load, "source", str(pairs), *rest], SENDER_CPU)
        )
        source.expect("ready", "stdout")
        time.sleep(warm_up)
        begin, before = _count(sink)
        time.sleep(0.9 * seconds)
        end, after = _count(sink)
        sent = source.report(timeout=seconds + 30)
        _, at_last = _count(sink)
        told = {}
        if tunnel is not BARE:
            emulation.signal(signal.SIGINT)
            emulation.finish(timeout=30)
            told = json.loads(report.read_text())
        rates = [(b - a) / (end - begin) for a, b in zip(before, after, strict=True)]
        added = [None if rtt is None else rtt / 1e3 - _LINK * 1e3 for rtt in sent["rtt_us"]]
        answers = sum(sent["probes"]), sum(sent["lost"])
        lost = 1 - (sum(at_last) - sum(at_first)) / max(1, sent["sent"])
        offered = sent["sent"] / sent["seconds"]
        return Trial(offered, rates, added, *answers, lost, warm_up + seconds, hub=told)


def _row(
    result: Result, experiment: str, tunnel: Tunnel, trials: Sequence[Trial], **more: object
) -> None:
    first = trials[0]
    spreads = [trial.rtt_spread for trial in trials if trial.rtt_spread is not None]
    result.add(
        experiment,
        tunnel,
        clients=len(first.received),
        **more,
        rounds=len(trials),
        **measured("offered_pps", [trial.offered_pps for trial in trials]),
        **measured("received_pps", [trial.received_pps for trial in trials]),
        **measured("jain", [trial.jain for trial in trials], 4),
        **measured("rtt_spread", spreads or [None], 3),
        **{f"added_rtt_ms_{name}": _rtt(first, place) for name, place in _places(first)},
        probes_lost=sum(trial.probes_lost for trial in trials),
        probes=sum(trial.probes for trial in trials),
        **{f"loop_{name}": round(share, 3) for name, share in first.loop.items()},
        shares=[round(rate, 1) for rate in first.received],
    )


def _places(trial: Trial) -> list[tuple[str, int]]:
    last = len(trial.received) - 1
    return [("first", 0), ("middle", last // 2), ("last", last)]


def _rtt(trial: Trial, place: int) -> float | None:
    value = trial.added_rtt_ms[place]
    return None if value is None else round(value, 3)


class Runner:
    """Trials of one run, with their progress."""

    def __init__(self, session: Session, plan: Plan) -> None:
        self.session, self.plan = session, plan

    def trial(
        self,
        tunnel: Tunnel,
        clients: int,
        pps: float,
        size: int = _PAPER_SIZE,
        seconds: float | None = None,
        probes: int = _PROBES,
        share: float | None = None,
    ) -> Trial:
        """One trial, said."""
        seconds = seconds or self.plan.choose(10.0, 3.0)
        trial = _trial(
            self.session, tunnel, clients, pps, size, seconds, probes=probes, share=share
        )
        self.plan.say(
            f"{tunnel.label}, {clients} clients, {size} bytes: {trial.offered_pps:,.0f} offered, "
            f"{trial.received_pps:,.0f} received, Jain {trial.jain:.4f}"
        )
        return trial

    def loss(self, tunnel: Tunnel, clients: int, pps: float, seconds: float) -> float:
        """Of a short trial; 1 if the load could not be offered."""
        trial = _trial(self.session, tunnel, clients, pps, _PAPER_SIZE, seconds, warm_up=0.2)
        lost = 1.0 if trial.offered_pps < 0.95 * pps else trial.lost
        self.plan.say(
            f"{tunnel.label}, {clients} clients: {trial.offered_pps:,.0f} offered, "
            f"{100 * trial.lost:.2f}% lost"
        )
        return lost

    def loss_free(self, tunnel: Tunnel, clients: int, start: float) -> float:
        """The highest rate that is carried without loss."""
        plan = self.plan
        found = find_loss_free(
            lambda pps: self.loss(tunnel, clients, pps, plan.search_trial),
            start,
            1e6,
            precision=0.1,
            max_trials=10,
            growth=1.5,
        )
        return confirm_loss_free(
            lambda pps: self.loss(tunnel, clients, pps, plan.confirm_trial), found.rate
        )

    def saturation(self, tunnel: Tunnel, clients: int, share: float | None = None) -> float:
        """The most that arrives, whatever is offered."""
        return max(self.trial(tunnel, clients, load, share=share).received_pps for load in _LOADS)


def _many_against_few(runner: Runner, plan: Plan, result: Result) -> None:
    """Throughput and fairness of 250 beside 10, and beside the baseline, where the hub limits."""
    saturated = runner.saturation(VXLAN, _FEW, _HUB_SHARE)
    load = 2 * saturated
    plan.say(f"saturation is {saturated:,.0f} packet/s: twice that is offered")
    seen: dict[str, list[Trial]] = {}
    for _, order in plan.turns(["many", "few", "tapudp", "modified"]):
        for what in order:
            tunnel = {"tapudp": TAPUDP, "modified": MODIFIED}.get(what, VXLAN)
            clients = _FEW if what == "few" else _MANY
            trial = runner.trial(tunnel, clients, load, share=_HUB_SHARE)
            seen.setdefault(what, []).append(trial)
    received = {what: [trial.received_pps for trial in trials] for what, trials in seen.items()}
    ratios = result.ratios
    ratios["clients250_vs_10"] = ratio_of_rounds(received["many"], received["few"], 0.95)
    ratios["fairness_jain_250"] = Ratio.of([trial.jain for trial in seen["many"]], 0.99)
    ratios["vs_tapudp_250"] = ratio_of_rounds(received["many"], received["tapudp"], 5)
    for what, trials in seen.items():
        tunnel = {"tapudp": TAPUDP, "modified": MODIFIED}.get(what, VXLAN)
        _row(result, "twice saturation", tunnel, trials, size=_PAPER_SIZE)


def _delays(runner: Runner, plan: Plan, result: Result, half: float) -> None:
    seconds = plan.choose(40.0, 15.0)  # 300 probes per client: with fewer, means differ by chance
    trials = [
        runner.trial(VXLAN, _MANY, half, seconds=seconds, probes=_PROBES_OF_DELAYS)
        for _ in range(plan.row_rounds)
    ]
    spreads = [trial.rtt_spread for trial in trials]
    if any(spread is None for spread in spreads):
        raise BenchError("clients: the probes of some client were all lost below saturation")
    result.ratios["rtt_spread_250"] = Ratio.of(
        [s for s in spreads if s is not None], 1.5, "at most"
    )
    _row(result, "below saturation", VXLAN, trials, size=_PAPER_SIZE)


def _against_bare(runner: Runner, plan: Plan, result: Result, start: float) -> None:
    """The hub beside the same simulation without a tunnel."""
    found: dict[Tunnel, list[float]] = {VXLAN: [], BARE: []}
    for _, order in plan.turns([VXLAN, BARE], plan.choose(0, 1)):
        for tunnel in order:
            found[tunnel].append(runner.loss_free(tunnel, _FEW, start))
    result.ratios["hub_vs_bare"] = ratio_of_rounds(found[VXLAN], found[BARE], 0.8)
    for tunnel, rates in found.items():
        result.add(
            "loss-free",
            tunnel,
            clients=_FEW,
            size=_PAPER_SIZE,
            rounds=len(rates),
            **measured("loss_free_pps", rates),
        )


def _thousand(runner: Runner, plan: Plan, result: Result, load: float) -> None:
    """1,000 clients: whether each gets its fair share."""
    trials = [runner.trial(VXLAN, _THOUSAND, load) for _ in range(plan.row_rounds)]
    least = [min(trial.received) * _THOUSAND / max(1.0, trial.received_pps) for trial in trials]
    result.ratios["clients1000"] = Ratio.of(least, 0.9)
    _row(result, "a thousand clients", VXLAN, trials, size=_PAPER_SIZE)


def _experiments(runner: Runner, plan: Plan, result: Result, saturated: float) -> None:
    """The paper's experiments 1 and 2: rows."""
    loads = [share * saturated for share in plan.choose([0.25, 0.5, 0.75, 1, 1.5], [0.5, 1.5])]
    sizes = plan.choose(_SIZES, (58, 1472))
    for size in plan.points("sizes", sizes):
        for pps in loads:
            _row(result, "experiment 1", VXLAN, [runner.trial(VXLAN, 1, pps, size)], size=size)
    numbers = plan.choose([10, 50, 100, 150, 200, 250], [50, 100, 200])
    for tunnel in (VXLAN, TAPUDP, MODIFIED):
        for clients in plan.points(f"numbers of clients, {tunnel.label}", numbers):
            for pps in plan.choose(loads, loads[-1:]):
                trial = runner.trial(tunnel, clients, pps)
                _row(result, "experiment 2", tunnel, [trial], size=_PAPER_SIZE)


def measure(session: Session, plan: Plan, result: Result) -> None:
    """Fill in the result."""
    result.published += read_csv("kristiansen-statements.csv")
    runner = Runner(session, plan)
    quota.remove_leftovers()
    with plan.part("250 clients beside 10 and the baseline", 0.4):
        _many_against_few(runner, plan, result)
    saturated = runner.saturation(VXLAN, _FEW)
    with plan.part("two hosts", 0.5):
        try:
            several_hosts.measure(session, plan, result)
        except BenchError as error:  # for example a build without Open MPI
            plan.shortened.append(f"two hosts are missing: {error}")
    with plan.part("delays", 0.5):
        _delays(runner, plan, result, saturated / 2)
    with plan.part("the hub beside a bare simulation", 0.6):
        _against_bare(runner, plan, result, saturated / 2)
    if plan.fits(_THOUSAND_SECONDS):
        _thousand(runner, plan, result, 2 * saturated)
    else:
        plan.shortened.append("a thousand clients")
    _experiments(runner, plan, result, saturated)
