"""Topologies that are built in Python and print as scenario files."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

# The keys of a SPEC, in the order of docs/path-spec.md.
_KEYS = (
    *("delay", "jitter", "dist", "order", "loss", "dup", "reorder", "ber", "corrupt", "nat"),
    *("fcs", "slot", "rate", "link", "overhead", "burst", "queue", "drop", "aqm"),
)
_DIRECTIONS = ("up", "down")
_OF_LINKS = {*_KEYS, *_DIRECTIONS, "classes"}


def _spec(values: Mapping[str, str]) -> str:
    unknown = sorted(set(values) - set(_KEYS))
    if unknown:
        raise TypeError(f"a link has no '{unknown[0]}'; it has {', '.join(_KEYS)}")
    return " ".join(f"{key}={str(value).removesuffix('/s')}" for key, value in values.items())


class Topology:
    """Nodes, links, flows and programs. `str(topology)` is what `viaduct run -` takes.

    Other keys of a scenario file are given by name: `Topology(mode="simulate", seed=7)`.
    """

    def __init__(self, name: str = "topology", routing: str = "OLSR", **keys: Any) -> None:
        self._keys: dict[str, Any] = {"name": name, "routing": {"protocol": routing}, **keys}
        self.nodes: dict[str, dict[str, Any]] = {}
        self.links: list[dict[str, Any]] = []
        self.flows: list[dict[str, Any]] = []
        self.programs: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []
        self._places: dict[str, tuple[float, float]] = {}

    def add_node(self, name: str, **settings: Any) -> str:
        """Adds a node and returns its name; settings are those of `nodes.NAME`."""
        if name in self.nodes:
            raise ValueError(f"node {name} is there already")
        self.nodes[name] = settings
        return name

    def add_host(self, name: str, **settings: Any) -> str:
        """Adds a node that runs no routing protocol."""
        return self.add_node(name, host=True, **settings)

    def add_link(
        self,
        a: str,
        b: str,
        *,
        name: str | None = None,
        up: str | Mapping[str, str] | None = None,
        down: str | Mapping[str, str] | None = None,
        classes: Sequence[Mapping[str, str]] = (),
        **spec: str,
    ) -> None:
        """Joins two nodes, adding them if needed: `delay="5ms", rate="10Mbit/s"`.

        `up` (from a to b) and `down` are a direction's own SPEC, instead of the link's:
        `up="rate=1Mbit loss=1%"`, or by key, `down={"rate": "16Mbit"}`. `classes` are those of
        `links[].classes`: `[{"name": "dns", "filter": "udp port 53", "spec": "loss=5%"}]`.
        """
        if a == b:
            raise ValueError(f"a link needs two nodes, not {a} twice")
        link: dict[str, Any] = {"pair": [a, b]}
        if name is not None:
            link["name"] = name
        if written := _spec(spec):
            link["spec"] = written
        for key, own in zip(_DIRECTIONS, (up, down), strict=True):
            if own is None:
                continue
            if not isinstance(own, str | Mapping):
                raise TypeError(f"{key} of a link is a SPEC or its keys by name, not {own!r}")
            link[key] = own if isinstance(own, str) else _spec(own)
        if classes:
            link["classes"] = [dict(each) for each in classes]
        for node in (a, b):
            self.nodes.setdefault(node, {})
        self.links.append(link)

    def add_wifi(
        self,
        nodes: str | Sequence[str] = "all",
        *,
        name: str | None = None,
        standard: str | None = None,
        **keys: Any,
    ) -> None:
        """Adds a Wi-Fi channel that the nodes share (mode simulate), adding them if needed.

        `keys` are those of `links[].wifi`: `range=70`, `rate="OfdmRate6Mbps"`,
        `access_point="n0"`. Where nodes are: `add_node("n0", position=[30, 0])`,
        `waypoints=[...]`, or `Topology(mobility={"layout": "line", "spacing": 40})`.
        """
        for node in [] if isinstance(nodes, str) else nodes:
            self.nodes.setdefault(node, {})
        if isinstance(nodes, str) and nodes != "all":
            raise TypeError(f"a Wi-Fi channel has a list of nodes, or 'all', not '{nodes}'")
        wifi = {"nodes": nodes if isinstance(nodes, str) else list(nodes)}
        wifi |= keys if standard is None else {"standard": standard, **keys}
        self.links.append({"wifi": wifi, **({} if name is None else {"name": name})})
        self._keys.setdefault("mode", "simulate")

    def add_flow(self, kind: str, source: str, to: str, **keys: Any) -> None:
        """Adds traffic: udp, tcp or ping; keys are those of `flows[]`."""
        self.flows.append({"type": kind, "from": source, "to": to, **keys})

    def add_program(self, node: str, command: str | Sequence[str], **keys: Any) -> None:
        """Adds a program; keys are those of `programs[]`."""
        words = command if isinstance(command, str) else list(command)
        self.programs.append({"node": node, "command": words, **keys})

    def add_event(self, at: str, link: str, **keys: Any) -> None:
        """Adds a change: `state="down"`, or `set="delay=9ms"`."""
        self.events.append({"at": at, "link": link, **keys})

    def scenario(self) -> dict[str, Any]:
        """The scenario as a dictionary."""
        lists = {key: getattr(self, key) for key in ("links", "flows", "programs", "events")}
        return {**self._keys, "nodes": self.nodes, **{k: v for k, v in lists.items() if v}}

    def __str__(self) -> str:
        # A copy of each list: YAML would write what two of them share as a reference.
        return str(yaml.dump(self.scenario(), Dumper=_Plain, sort_keys=False))

    @classmethod
    def _built(
        cls, places: list[tuple[float, float]], pairs: list[tuple[int, int]], spec: dict[str, Any]
    ) -> Topology:
        keys = {key: spec.pop(key) for key in list(spec) if key not in _OF_LINKS}
        made = cls(**keys)
        for number, place in enumerate(places):
            made._places[made.add_node(f"n{number}")] = place
        for a, b in pairs:
            made.add_link(f"n{a}", f"n{b}", **spec)
        return made

    @classmethod
    def line(cls, size: int, **spec: Any) -> Topology:
        """n0 - n1 - ...; keywords of a link's SPEC are for all links, others for `Topology`."""
        _at_least(size, 2)
        return cls._built(
            [(i, 0) for i in range(size)], [(i, i + 1) for i in range(size - 1)], spec
        )

    @classmethod
    def ring(cls, size: int, **spec: Any) -> Topology:
        """A line whose ends are joined."""
        _at_least(size, 3)
        return cls._built(_circle(size), [(i, (i + 1) % size) for i in range(size)], spec)

    @classmethod
    def grid(cls, columns: int, rows: int, **spec: Any) -> Topology:
        """Row by row, each node joined to the right and below."""
        _at_least(min(columns, rows), 1)
        _at_least(columns * rows, 2)
        size = columns * rows
        right = [(i, i + 1) for i in range(size) if (i + 1) % columns]
        below = [(i, i + columns) for i in range(size - columns)]
        return cls._built([(i % columns, i // columns) for i in range(size)], right + below, spec)

    @classmethod
    def star(cls, size: int, **spec: Any) -> Topology:
        """n0 in the middle of the others."""
        _at_least(size, 2)
        places = [(0.0, 0.0), *_circle(size - 1)]
        return cls._built(places, [(0, i) for i in range(1, size)], spec)

    @classmethod
    def tree(cls, size: int, fanout: int = 2, **spec: Any) -> Topology:
        """n0 is the root; every node has `fanout` children as long as there are nodes."""
        _at_least(size, 2)
        _at_least(fanout, 1)
        places, row, first = [], 0, 0
        while first < size:
            # Of a level: so many nodes, evenly in a width of one.
            count = fanout**row
            shown = range(min(count, size - first))
            places += [((i + 0.5) / count * size / 2, float(row)) for i in shown]
            first, row = first + count, row + 1
        return cls._built(places, [((i - 1) // fanout, i) for i in range(1, size)], spec)

    def _drawn_at(self) -> dict[str, tuple[float, float]]:
        """Where each node is drawn; those of Wi-Fi where they are said to be, if all are."""
        if set(self._places) == set(self.nodes):
            return self._places
        said = {name: _position(settings) for name, settings in self.nodes.items()}
        known = {name: place for name, place in said.items() if place is not None}
        if not known or set(known) != set(self.nodes):
            return dict(zip(self.nodes, _circle(len(self.nodes)), strict=True))
        far = max(math.dist(a, b) for a in known.values() for b in known.values()) or 1.0
        scale = max(2.0, len(known) / 2) / far
        return {name: (x * scale, -y * scale) for name, (x, y) in known.items()}

    def _repr_svg_(self) -> str:
        """A drawing, for Jupyter. The nodes of a Wi-Fi channel have a ring around them."""
        places = self._drawn_at()
        left = min((x for x, _ in places.values()), default=0)
        top = min((y for _, y in places.values()), default=0)
        at = {n: (40 + 90 * (x - left), 30 + 70 * (y - top)) for n, (x, y) in places.items()}
        width = max((x for x, _ in at.values()), default=0) + 40
        height = max((y for _, y in at.values()), default=0) + 30
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'role="img" aria-label="topology of {len(at)} nodes and {len(self.links)} links">'
        ]
        for link in self.links:
            if "pair" not in link:
                standard = html.escape(str(link["wifi"].get("standard", "80211a")))
                nodes = self.nodes if link["wifi"]["nodes"] == "all" else link["wifi"]["nodes"]
                parts += [
                    f'<circle cx="{at[node][0]:.1f}" cy="{at[node][1]:.1f}" r="21" fill="none" '
                    f'stroke="gray" stroke-dasharray="2 3"><title>Wi-Fi {standard}</title></circle>'
                    for node in nodes
                ]
                continue
            (x1, y1), (x2, y2) = (at[node] for node in link["pair"])
            parts.append(
                f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="gray">'
                f"<title>{html.escape(_effects(link))}</title></line>"
            )
        for node, (x, y) in at.items():
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="16" fill="white" stroke="black"/>'
                f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle" font-size="11">'
                f"{html.escape(node)}</text>"
            )
        return "".join([*parts, "</svg>"])

    def _repr_html_(self) -> str:
        """The same, for whatever shows HTML."""
        return self._repr_svg_()


class _Plain(yaml.SafeDumper):
    """Without references."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _effects(link: dict[str, Any]) -> str:
    """What a link does, in a line."""
    said = [link["spec"]] if link.get("spec") else []
    said += [f"{key}: {link[key] or 'a plain wire'}" for key in _DIRECTIONS if key in link]
    return "; ".join(said) or "a plain wire"


def _at_least(size: int, least: int) -> None:
    if size < least:
        raise ValueError(f"{size} is too few; at least {least}")


def _position(settings: dict[str, Any]) -> tuple[float, float] | None:
    """Of a node's settings: its place, or the first that it walks from."""
    if "waypoints" in settings:
        first = str(settings["waypoints"][0]).split()
        return float(first[1]), float(first[2])
    if "position" in settings:
        return float(settings["position"][0]), float(settings["position"][1])
    return None


def _circle(size: int) -> list[tuple[float, float]]:
    radius = max(1.0, size / 6)
    angles = [2 * math.pi * i / max(size, 1) for i in range(size)]
    return [(radius * math.sin(angle), -radius * math.cos(angle)) for angle in angles]
