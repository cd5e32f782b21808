"""The same SPEC given to Linux's own netem, tbf, codel, fq_codel, pie and red, and to ours.

The kernel's run in a User Mode Linux guest in virtual time (bench/qdisc_guest.cc), ours in model
time (bench/path_replay.cc): no machine's load is in the numbers, and a run repeats to the packet.
What differs by intent is said in docs/path.md (Limits) and stated here case by case.
"""

from __future__ import annotations

import bisect
import collections
import itertools
import json
import math
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field

import labs
import pytest

pytestmark = pytest.mark.xdist_group("qdiscs")  # one fixture runs all cases, once

BENCH = labs.BUILD / "bench"
NETEM = "root netem limit 100000"
BUCKET = "root handle 1: tbf rate 10mbit burst 1514 limit 100000000; parent 1:1"
BEHIND_BUCKET = "rate=10Mbit burst=1514B"
MIXED = "frames=1:1000,2:1514,3:60"

# Name, our SPEC, tc's words, traffic (bench/qdisc_plan.h).
CASES = [
    ("delay", "delay=10ms", f"{NETEM} delay 10ms", "packets=500 interval=1000000"),
    (
        "uniform",
        "delay=20ms jitter=5ms",
        f"{NETEM} delay 20ms 5ms",
        "packets=4000 interval=1000000",
    ),
    *(
        (
            name,
            f"delay=20ms jitter=2ms dist={name}",
            f"{NETEM} delay 20ms 2ms distribution {name}",
            "packets=4000 interval=1000000",
        )
        for name in ("normal", "pareto", "paretonormal")
    ),
    ("loss", "loss=10%", f"{NETEM} loss 10%", "packets=6000 interval=100000"),
    (
        "gemodel",
        "loss=gemodel:p=2%,r=20%",
        f"{NETEM} loss gemodel 2% 20% 100% 0%",
        "packets=12000 interval=100000",
    ),
    ("duplicate", "dup=10%", f"{NETEM} duplicate 10%", "packets=5000 interval=100000"),
    (
        "reorder",
        "delay=10ms reorder=25%",
        f"{NETEM} delay 10ms reorder 25%",
        "packets=4000 interval=1000000",
    ),
    (
        "rate",
        "rate=10Mbit queue=100000p",
        f"{NETEM} rate 10mbit",
        f"packets=1000 batch=50 interval=45000000 {MIXED}",
    ),
    ("slot", "slot=5ms", f"{NETEM} slot 5ms", "packets=1000 interval=700000"),
    (
        "slot-limited",
        "slot=5ms:packets=3",
        f"{NETEM} slot 5ms packets 3",
        "packets=120 interval=700000",
    ),
    (
        "slot-uniform",
        "slot=2ms:max=8ms",
        f"{NETEM} slot 2ms 8ms",
        "packets=20000 interval=700000",
    ),
    (
        "tbf",
        "rate=10Mbit burst=15kB queue=100000p",
        "root tbf rate 10mbit burst 15000 limit 100000000",
        f"packets=1000 batch=50 interval=45000000 {MIXED}",
    ),
    (
        "codel",
        f"{BEHIND_BUCKET} aqm=codel queue=1000p",
        f"{BUCKET} codel limit 1000 target 5ms interval 100ms noecn",
        "packets=6000 interval=700000",
    ),
    (
        "codel-ecn",
        f"{BEHIND_BUCKET} aqm=codel:ecn queue=1000p",
        f"{BUCKET} codel limit 1000 target 5ms interval 100ms ecn",
        "packets=3000 interval=700000 tos=2",
    ),
    (
        "fq_codel",
        f"{BEHIND_BUCKET} aqm=fq_codel:noecn queue=1000p",
        f"{BUCKET} fq_codel limit 1000 quantum 1514 noecn",
        "packets=6000 interval=500000 frames=1:1000,1:1000,1:1000,2:1000,2:500,3:100",
    ),
    (
        "pie",
        f"{BEHIND_BUCKET} aqm=pie queue=1000p",
        f"{BUCKET} pie limit 1000 target 15ms tupdate 15ms",
        "packets=8000 interval=727000",
    ),
    (
        "red",
        f"{BEHIND_BUCKET} aqm=red:min=30p,max=90p,prob=10%,weight=0.1953125% queue=400kB",
        f"{BUCKET} red limit 400000 min 30000 max 90000 avpkt 1000 burst 150 "
        "probability 0.1 bandwidth 10mbit",
        "packets=8000 interval=760000",
    ),
]


@dataclass
class Outcome:
    """The fates of a case's packets."""

    packets: int
    batch: int
    interval: int
    arrivals: list[tuple[int, int, int]] = field(default_factory=list)  # number, ns, TOS

    def sent_at(self, number: int) -> int:
        """When the packet was sent, ns."""
        return number // self.batch * self.interval

    def delays(self) -> list[int]:
        """Of the packets that arrived, in the order of their numbers, ns."""
        return [at - self.sent_at(number) for number, at, _ in sorted(self.arrivals)]

    def lost(self) -> set[int]:
        """The numbers of packets that did not arrive."""
        return set(range(self.packets)) - {number for number, _, _ in self.arrivals}

    def marked(self) -> int:
        """How many arrived with Congestion Experienced."""
        return sum(tos & 3 == 3 for _, _, tos in self.arrivals)


def planned(name: str, spec: str, words: str, traffic: str) -> dict[str, object]:
    """A case in the plan."""
    options = dict(word.split("=") for word in traffic.split())
    frames = options.pop("frames", "1:1000").split(",")
    return {
        "name": name,
        "spec": spec,
        "tc": words.split("; "),
        "frames": [[int(part) for part in frame.split(":")] for frame in frames],
    } | {key: int(value) for key, value in options.items()}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Outcome, Outcome]]:
    """Each case's outcome: ours, the kernel's."""
    folder = tmp_path_factory.mktemp("qdiscs")
    plan = folder / "plan"
    plan.write_text(json.dumps([planned(*case) for case in CASES]))
    kernel = subprocess.run(
        [BENCH / "qdisc-host", plan, folder],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    if kernel.returncode == 3:
        pytest.skip(kernel.stderr.strip())
    assert kernel.returncode == 0, kernel.stderr + (folder / "log").read_text()
    ours = subprocess.run(
        [BENCH / "path-replay", plan, "1"], capture_output=True, text=True, timeout=300, check=True
    )
    theirs = (folder / "results").read_text()
    return {case[0]: (read(case, ours.stdout), read(case, theirs)) for case in CASES}


def read(case: tuple[str, str, str, str], text: str) -> Outcome:
    """The lines of a case in a program's output."""
    traffic = dict(word.split("=") for word in case[3].split())
    outcome = Outcome(
        int(traffic["packets"]), int(traffic.get("batch", 1)), int(traffic["interval"])
    )
    for line in text.splitlines():
        name, number, at, tos = line.split()
        if name == case[0]:
            outcome.arrivals.append((int(number), int(at), int(tos)))
    assert outcome.arrivals, f"nothing arrived in {case[0]}"
    return outcome


def distance(a: Sequence[float], b: Sequence[float]) -> float:
    """Kolmogorov and Smirnov's: the most by which two empirical distributions differ."""
    a, b = sorted(a), sorted(b)
    return max(abs(bisect.bisect(a, x) / len(a) - bisect.bisect(b, x) / len(b)) for x in {*a, *b})


def assert_same_distribution(a: Sequence[float], b: Sequence[float]) -> None:
    """Two-sample Kolmogorov-Smirnov test with 99.9% confidence (conservative where values tie)."""
    limit = 1.95 * math.sqrt((len(a) + len(b)) / (len(a) * len(b)))
    assert distance(a, b) < limit, f"{distance(a, b)} is not below {limit}"


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which a share of all lies."""
    return sorted(values)[int(len(values) * share)]


def runs(members: set[int], count: int) -> list[int]:
    """Lengths of the runs of consecutive members of 0...count-1."""
    lengths, length = [], 0
    for i in range(count + 1):
        if i in members:
            length += 1
        elif length:
            lengths.append(length)
            length = 0
    return lengths


@pytest.mark.parametrize("name", ["delay", "rate", "tbf"])
def test_exact_to_a_microsecond(name: str, outcomes: dict[str, tuple[Outcome, Outcome]]) -> None:
    """Where nothing is random, each packet arrives at the same instant; reading its clock costs the
    guest 256 ns a time."""
    ours, theirs = outcomes[name]
    assert len(ours.arrivals) == len(theirs.arrivals) == ours.packets
    differences = [b - a for a, b in zip(ours.delays(), theirs.delays(), strict=True)]
    assert min(differences) >= -100
    assert max(differences) < 1500


@pytest.mark.parametrize("name", ["uniform", "normal", "pareto", "paretonormal"])
def test_jitter_is_distributed_alike(
    name: str, outcomes: dict[str, tuple[Outcome, Outcome]]
) -> None:
    """Each packet's own delay, whatever overtakes it."""
    ours, theirs = outcomes[name]
    assert not ours.lost() and not theirs.lost()
    assert_same_distribution(ours.delays(), theirs.delays())


@pytest.mark.parametrize("name", ["pareto", "paretonormal"])
def test_netem_cuts_heavy_tails(name: str, outcomes: dict[str, tuple[Outcome, Outcome]]) -> None:
    """docs/path.md: netem's tables end at four times the jitter, our tails go on."""
    ours, theirs = outcomes[name]
    assert max(theirs.delays()) < 28_002_000
    assert max(ours.delays()) > 30_000_000


def test_losses_are_as_many_and_as_long(outcomes: dict[str, tuple[Outcome, Outcome]]) -> None:
    """Independent loss: the count within five standard deviations of p, runs alike."""
    ours, theirs = outcomes["loss"]
    for outcome in (ours, theirs):
        deviation = math.sqrt(outcome.packets * 0.1 * 0.9)
        assert abs(len(outcome.lost()) - outcome.packets * 0.1) < 5 * deviation
    assert_same_distribution(runs(ours.lost(), ours.packets), runs(theirs.lost(), theirs.packets))


def test_gilbert_elliott_loses_in_runs_alike(outcomes: dict[str, tuple[Outcome, Outcome]]) -> None:
    """Bursts of mean 1/r, gaps of mean 1/p, both of the kernel's distribution."""
    ours, theirs = outcomes["gemodel"]
    bursts = [runs(outcome.lost(), outcome.packets) for outcome in (ours, theirs)]
    gaps = [runs(set(range(o.packets)) - o.lost(), o.packets) for o in (ours, theirs)]
    assert_same_distribution(*bursts)
    assert_same_distribution(*gaps)
    for lengths, mean in zip(bursts + gaps, [5, 5, 50, 50], strict=True):
        deviation = mean / math.sqrt(len(lengths))  # geometric: about its mean
        assert abs(sum(lengths) / len(lengths) - mean) < 5 * deviation


def test_duplicates_are_as_many(outcomes: dict[str, tuple[Outcome, Outcome]]) -> None:
    """netem sends a duplicate through itself once more: some of them are duplicated again, and the
    kernel has 1/(1-p) as many (docs/path.md)."""
    ours, theirs = outcomes["duplicate"]
    for outcome, share in ((ours, 0.1), (theirs, 0.1 / 0.9)):
        extra = len(outcome.arrivals) - outcome.packets
        assert abs(extra - outcome.packets * share) < 5 * math.sqrt(outcome.packets * 0.1)


def test_reordering_is_alike(outcomes: dict[str, tuple[Outcome, Outcome]]) -> None:
    """A quarter is not delayed, with the same gaps between those."""
    undelayed = []
    for outcome in outcomes["reorder"]:
        early = {n for n, at, _ in outcome.arrivals if at - outcome.sent_at(n) < 1_000_000}
        assert all(
            abs(at - outcome.sent_at(n) - 10_000_000) < 1500
            for n, at, _ in outcome.arrivals
            if n not in early
        )
        assert abs(len(early) - outcome.packets / 4) < 5 * math.sqrt(outcome.packets * 3 / 16)
        undelayed.append(runs(set(range(outcome.packets)) - early, outcome.packets))
    assert_same_distribution(*undelayed)


@pytest.mark.parametrize("name", ["slot", "slot-limited"])
def test_slots_deliver_the_same_packets_together(
    name: str, outcomes: dict[str, tuple[Outcome, Outcome]]
) -> None:
    """Each packet leaves in the same slot. The guest takes some clock reads a packet, and begins a
    slot that follows a full one by its own clock."""
    ours, theirs = outcomes[name]
    assert len(ours.arrivals) == len(theirs.arrivals) == ours.packets
    differences = [b - a for a, b in zip(ours.delays(), theirs.delays(), strict=True)]
    assert min(differences) >= -100
    assert max(differences) < 100_000


def test_slots_are_spaced_alike(outcomes: dict[str, tuple[Outcome, Outcome]]) -> None:
    """Uniform intervals: as many packets a slot, waiting as long."""
    gaps = []
    for outcome in outcomes["slot-uniform"]:
        assert len(outcome.arrivals) == outcome.packets
        instants = sorted(at for _, at, _ in outcome.arrivals)
        # The packets of one slot leave within microseconds, the next one's come 2 ms later.
        gaps.append([b - a for a, b in itertools.pairwise(instants) if b - a > 1_000_000])
    assert len(gaps[0]) > 2000
    assert_same_distribution(*([gap // 20_000 for gap in each] for each in gaps))
    ours, theirs = (sorted(outcome.delays()) for outcome in outcomes["slot-uniform"])
    assert_same_distribution([d // 20_000 for d in ours[::7]], [d // 20_000 for d in theirs[::7]])


@pytest.mark.parametrize("name", ["codel", "fq_codel"])
def test_codel_drops_alike(name: str, outcomes: dict[str, tuple[Outcome, Outcome]]) -> None:
    """The kernel's square root is one step of Newton's in 16 bits, its clock ticks 1.024 us: drops
    come some packets apart, not more."""
    ours, theirs = outcomes[name]
    assert abs(len(ours.lost()) - len(theirs.lost())) < 0.03 * len(theirs.lost())
    for share in (0.1, 0.5, 0.9, 0.99):
        a, b = quantile(ours.delays(), share), quantile(theirs.delays(), share)
        assert abs(a - b) < 0.06 * b + 1e6, f"delays at {share}: {a} and {b} ns"


def test_codel_marks_alike(outcomes: dict[str, tuple[Outcome, Outcome]]) -> None:
    """ECN-capable packets are marked at the same pace and all arrive, at the same instants."""
    ours, theirs = outcomes["codel-ecn"]
    assert not ours.lost() and not theirs.lost()
    assert abs(ours.marked() - theirs.marked()) <= max(3, 0.03 * theirs.marked())
    assert ours.marked() > 100
    differences = [b - a for a, b in zip(ours.delays(), theirs.delays(), strict=True)]
    assert min(differences) >= -100 and max(differences) < 1500


def test_fq_codel_shares_alike(outcomes: dict[str, tuple[Outcome, Outcome]]) -> None:
    """Each of three flows gets the same share, and the sparse one waits as little."""
    shares, sparse = [], []
    for outcome in outcomes["fq_codel"]:
        flows = [1, 1, 1, 2, 2, 3]
        shares.append(collections.Counter(flows[n % 6] for n, _, _ in outcome.arrivals))
        sparse.append([at - outcome.sent_at(n) for n, at, _ in outcome.arrivals if n % 6 == 5])
    for flow in (1, 2, 3):
        assert abs(shares[0][flow] - shares[1][flow]) < 0.03 * shares[1][flow]
    assert_same_distribution([d // 10_000 for d in sparse[0]], [d // 10_000 for d in sparse[1]])
    assert max(sparse[0]) < 3_000_000


def test_pie_holds_the_same_delay(outcomes: dict[str, tuple[Outcome, Outcome]]) -> None:
    """After the start, the same mean delay and the same drops."""
    means, drops = [], []
    for outcome in outcomes["pie"]:
        late = [
            at - outcome.sent_at(n) for n, at, _ in outcome.arrivals if n >= outcome.packets / 2
        ]
        means.append(sum(late) / len(late))
        drops.append(len([n for n in outcome.lost() if n >= outcome.packets / 2]))
    assert abs(means[0] - means[1]) < 3e6, means
    assert abs(drops[0] - drops[1]) < 0.1 * drops[1], drops


def test_red_drops_as_much(outcomes: dict[str, tuple[Outcome, Outcome]]) -> None:
    """After the start, the same share of drops; the same mean queue."""
    means, drops = [], []
    for outcome in outcomes["red"]:
        late = [
            at - outcome.sent_at(n) for n, at, _ in outcome.arrivals if n >= outcome.packets / 2
        ]
        means.append(sum(late) / len(late))
        drops.append(len([n for n in outcome.lost() if n >= outcome.packets / 2]))
    assert abs(means[0] - means[1]) < 0.1 * means[1], means
    assert abs(drops[0] - drops[1]) < 0.15 * drops[1], drops
