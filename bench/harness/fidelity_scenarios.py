"""The scenarios of benchmark `fidelity`, as files of the product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_OLSR = (
    "routing: {protocol: OLSR, sample: 1s, "
    "attributes: {HelloInterval: 250ms, TcInterval: 500ms, HnaInterval: 500ms}}"
)
_STATIC = "routing: {protocol: static}"


@dataclass(frozen=True)
class Experiment:
    """One scenario; `cuts`: seconds at which links change, None: its routes do not."""

    name: str
    label: str
    lines: Sequence[str]
    flows: Sequence[str]
    quick: int  # seconds of a quick run
    full: int
    cuts: Sequence[int] | None = None


# No two shortest paths have equal length, because the choice of OLSR between them is not specified.
EXPERIMENTS = (
    Experiment(
        "ring",
        "OLSR on a ring of 5, a link cut and back",
        (
            _OLSR,
            "nodes: 5",
            "links: [{ring: all, spec: delay=1ms}]",
            "addressing: {loopback: 10.255.0.0/24}",
            "events: [{at: 4s, link: n0-n1, state: down}, {at: 11s, link: n0-n1, state: up}]",
        ),
        ("{type: ping, from: n0, to: n1, interval: 50ms}",),
        18,
        40,
        (4, 11),
    ),
    Experiment(
        "tree",
        "OLSR on a tree of 7, a branch cut off and back",
        (
            _OLSR,
            "nodes: 7",
            "links: [{pair: [n0, n1]}, {pair: [n0, n2]}, {pair: [n1, n3]}, {pair: [n1, n4]},"
            " {pair: [n2, n5]}, {pair: [n2, n6]}]",
            "events: [{at: 3s, link: n0-n2, state: down}, {at: 10s, link: n0-n2, state: up}]",
        ),
        ("{type: ping, from: n3, to: n6, interval: 50ms}",),
        17,
        40,
        (3, 10),
    ),
    Experiment(
        "delay",
        "a line of 4, delay 5 ms a link",
        (_STATIC, "nodes: 4", 'links: [{line: all, spec: "delay=5ms"}]'),
        ("{type: ping, from: n0, to: n3, interval: 20ms}",),
        5,
        20,
    ),
    Experiment(
        "jitter",
        "a link of 10 ms with jitter",
        (_STATIC, "nodes: 2", 'links: [{line: all, spec: "delay=10ms jitter=2ms"}]'),
        ("{type: ping, from: n0, to: n1, interval: 10ms}",),
        8,
        30,
    ),
    Experiment(
        "loss",
        "a link that loses 2%",
        (_STATIC, "nodes: 2", 'links: [{line: all, spec: "delay=2ms loss=2%"}]'),
        ("{type: udp, from: n0, to: n1, rate: 2Mbit, size: 500}",),
        6,
        20,
    ),
    Experiment(
        "tcp",
        "TCP through 10 Mbit/s, 20 ms round trip, a queue of 64",
        (
            _STATIC,
            "nodes: 3",
            'links: [{pair: [n0, n1]}, {pair: [n1, n2], spec: "delay=10ms rate=10Mbit queue=64p"}]',
        ),
        ("{type: tcp, from: n0, to: n2}",),
        10,
        60,
    ),
)
