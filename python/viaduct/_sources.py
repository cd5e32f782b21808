"""What `viaduct view` shows: a lab, a path, a paused simulation, or the results of a run."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from ._command import ViaductError, call, checked, line_of, start, stop
from ._netns import Counters, Packets
from ._result import load

RUNS = Path("/run/viaduct")
NEEDS_ROOT = "needs root: start viaduct view as root"


class Source(Protocol):
    """What the page asks for."""

    def topology(self) -> dict[str, Any]:
        """What does not change."""

    def state(self) -> dict[str, Any]:
        """What does."""

    def node(self, name: str) -> dict[str, Any]:
        """Routes and addresses of a node."""

    def path(self, first: str, last: str) -> dict[str, Any]:
        """The nodes that packets from one to the other pass."""

    def packets(self, link: str) -> dict[str, Any]:
        """The last packets of a link."""

    def set_spec(self, link: str, direction: str, spec: str) -> None:
        """Changes keys of a link's SPEC."""

    def set_link(self, link: str, up: bool) -> None:
        """Takes it down, or up."""

    def resume(self) -> None:
        """Continues what is paused."""

    def close(self) -> None:
        """Leaves nothing behind."""


def _refuse(what: str) -> ViaductError:
    return ViaductError(f"a finished run has no {what}", 2)


class Finished:
    """Results of a run, which the page plays back."""

    def __init__(self, file: Path) -> None:
        data = load(file)
        runs = data["runs"] if isinstance(data.get("runs"), list) else [data]
        for run in runs:
            summary = run.get("scenario") if isinstance(run, dict) else None
            if not isinstance(summary, dict) or "links" not in summary or "flows" not in run:
                raise ViaductError(f"{file}: holds no results of viaduct run --json", 2)
        self._runs = runs

    def topology(self) -> dict[str, Any]:  # noqa: D102 (as declared above)
        summary = self._runs[0]["scenario"]
        return {
            "kind": "result",
            "name": summary["name"],
            "nodes": [{"name": name} for name in summary["nodes"]],
            "links": summary["links"],
            "runs": self._runs,
        }

    def state(self) -> dict[str, Any]:  # noqa: D102
        return {}

    def node(self, name: str) -> dict[str, Any]:  # noqa: D102
        raise _refuse("routes to ask for")

    def path(self, first: str, last: str) -> dict[str, Any]:  # noqa: D102
        raise _refuse("routes to ask for")

    def packets(self, link: str) -> dict[str, Any]:  # noqa: D102
        raise _refuse("packets")

    def set_spec(self, link: str, direction: str, spec: str) -> None:  # noqa: D102
        raise _refuse("links to change")

    def set_link(self, link: str, up: bool) -> None:  # noqa: D102
        raise _refuse("links to change")

    def resume(self) -> None:  # noqa: D102
        raise _refuse("pause")

    def close(self) -> None:  # noqa: D102
        return


def node_of(name: str, ask: Callable[[list[str]], str]) -> dict[str, Any]:
    """Addresses and routes; `ask` gives the output of a program in the node."""
    found: dict[str, Any] = {"name": name, "addresses": [], "routes": []}
    for each in json.loads(ask(["ip", "-j", "address"]) or "[]"):
        if each.get("ifname") != "lo":
            given = each.get("addr_info", [])
            addresses = " ".join(f"{a['local']}/{a['prefixlen']}" for a in given)
            found["addresses"].append([each["ifname"], each.get("operstate", ""), addresses])
    for family in ("-4", "-6"):
        text = ask(["ip", family, "route"])
        found["routes"] += [line.strip() for line in text.splitlines() if line.strip()]
    return found


def path_of(
    first: str, last: str, owner: Mapping[str, str], ask: Callable[[str, list[str]], str]
) -> dict[str, Any]:
    """The hops, as the nodes' tables say; `owner`: whose each address is."""
    targets = [address for address, node in owner.items() if node == last]
    targets.sort(key=lambda address: ipaddress.ip_address(address).version)
    if not targets:
        raise ViaductError(f"node {last} has no address", 1)
    target, here, nodes = targets[0], first, [first]
    while here != last and len(nodes) <= 64:
        text = ask(here, ["ip", "-j", "route", "get", target])
        route = (json.loads(text or "[]") or [{}])[0]
        following = owner.get(str(route.get("gateway") or route.get("dst") or ""))
        if following is None or following == here:
            why = f"{here} has no next hop to {target}"
            return {"nodes": nodes, "complete": False, "why": why}
        if following in nodes:
            return {"nodes": [*nodes, following], "complete": False, "why": "a loop"}
        nodes.append(following)
        here = following
    return {"nodes": nodes, "complete": here == last, "to": target}


class _Statistics:
    """Follows a path engine: `viaduct path stats --watch`, a child that ends with this process."""

    def __init__(self, name: str, interval: str) -> None:
        self.last: dict[str, Any] | None = None
        self.stamp = 0.0
        self.trouble: str | None = None
        words = ["path", "stats", name, "--json", "--watch", f"--interval={interval}"]
        self._child = start(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        assert self._child.stdout is not None
        assert self._child.stderr is not None
        for line in self._child.stdout:
            with contextlib.suppress(ValueError):
                self.last, self.stamp = json.loads(line), time.monotonic()
        self.trouble = line_of(self._child.stderr.read() or "the path engine has ended")

    def close(self) -> None:
        stop(self._child)
        self._thread.join()
        for stream in (self._child.stdout, self._child.stderr):
            if stream is not None:
                stream.close()


def _pipeline(each: Mapping[str, Any]) -> dict[str, Any]:
    fates = each.get("fates", {})
    delivered = fates.get("delivered", 0)
    return {
        "spec": each.get("spec", ""),
        "packets": each.get("arrived", 0),
        "bytes": each.get("arrived_bytes", 0),
        "out_bytes": each.get("delivered_bytes", 0),
        "lost": sum(fates.values()) - delivered,
        "causes": {c: count for c, count in fates.items() if c != "delivered" and count},
        "waiting": each.get("waiting", 0),
    }


class Live:
    """A lab, or a path (which has two nodes, its interfaces, and a link for each pair)."""

    def __init__(self, name: str, kind: str, interval: str) -> None:
        self._name, self._kind = name, kind
        self._lock = threading.Lock()
        self._counters: dict[str, Counters] = {}
        self._packets: dict[str, Packets] = {}
        self._ended: str | None = None
        self._topology = self._read_topology() if kind == "lab" else self._read_path()
        self._links = {link["name"]: link for link in self._topology["links"]}
        self._owner = self._address_owners()
        self._statistics = _Statistics(name, interval)
        if kind == "lab" and os.geteuid() == 0:
            for node in self._topology["nodes"]:
                with contextlib.suppress(OSError):  # a remote node's, or the lab has just ended
                    self._counters[node["name"]] = Counters(f"{name}.{node['name']}")

    def _read_topology(self) -> dict[str, Any]:
        try:
            data = json.loads((RUNS / self._name / "topology.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            said = f"lab {self._name}: its topology cannot be read: {error}"
            raise ViaductError(said, 1) from error
        links = [
            {
                "name": link["name"],
                "nodes": [end["node"] for end in link["endpoints"]],
                "ends": [[end["node"], end["interface"]] for end in link["endpoints"]],
            }
            for link in data["links"]
        ]
        return {"nodes": data["nodes"], "links": links}

    def _read_path(self) -> dict[str, Any]:
        for each in json.loads(checked(["path", "ls", "--json"])):
            if each["name"] == self._name:
                nodes = [{"name": interface} for interface in each["interfaces"]]
                pairs = [
                    {"name": pair, "nodes": [i for i in each["interfaces"] if i in pair.split("-")]}
                    for pair in each["pairs"]
                ]
                for pair in pairs:
                    if len(pair["nodes"]) != 2:
                        pair["nodes"] = each["interfaces"][:2]
                return {"nodes": nodes, "links": [{**pair, "ends": []} for pair in pairs]}
        raise ViaductError(f"path {self._name} has just ended", 1)

    def _address_owners(self) -> dict[str, str]:
        return {
            prefix.partition("/")[0]: node["name"]
            for node in self._topology["nodes"]
            for interface in node.get("interfaces", [])
            for prefix in interface.get("addresses", [])
        }

    def topology(self) -> dict[str, Any]:  # noqa: D102
        nodes = [
            {"name": node["name"], "plane": node.get("data_plane", "")}
            for node in self._topology["nodes"]
        ]
        links = self._topology["links"]
        return {"kind": self._kind, "name": self._name, "nodes": nodes, "links": links}

    def _is_there(self) -> bool:
        if self._ended is None:
            folder = RUNS / self._name if self._kind == "lab" else RUNS / ".paths" / self._name
            shells = RUNS / ".shells" / self._name
            if not folder.exists() and not (self._kind != "lab" and shells.exists()):
                self._ended = f"{self._kind} {self._name} has ended"
        return self._ended is None

    def state(self) -> dict[str, Any]:  # noqa: D102
        alive = self._is_there()
        statistics = self._statistics.last or {}
        rows: dict[str, dict[str, Any]] = {}
        for each in statistics.get("pipelines", []):
            # Of a shared link there is a pair for each of its nodes: LINK.NODE.
            pair, direction = each["pair"], each["direction"]
            link, _, node = (pair, "", "") if pair in self._links else pair.rpartition(".")
            if node:
                direction = f"{node} {direction}"
            if each.get("class"):
                direction = f"{each['class']} {direction}"
            rows.setdefault(link or pair, {})[direction] = _pipeline(each)
        found: dict[str, Any] = {
            "time": time.time(),
            "stamp": self._statistics.stamp or time.monotonic(),
            "links": rows,
            "timing": statistics.get("timing"),
            "memory": statistics.get("memory"),
        }
        if alive:
            found["interfaces"] = self._interfaces()
        else:
            found["ended"] = self._ended
        return found

    def _interfaces(self) -> dict[str, dict[str, tuple[int, int, int]]]:
        read = {}
        for node, counters in self._counters.items():
            with contextlib.suppress(OSError):
                read[node] = counters.read()
        return read

    def _in_node(self, node: str, words: list[str]) -> str:
        """The output of a program in a node."""
        if self._kind != "lab" or node not in {each["name"] for each in self._topology["nodes"]}:
            raise ViaductError(f"there is no node {node}", 2)
        if os.geteuid() == 0:
            if not shutil.which("ip"):
                raise ViaductError("no ip: apt-get install iproute2", 3)
            words = ["ip", "-n", f"{self._name}.{node}", *words[1:]]
            done = subprocess.run(words, capture_output=True, text=True, timeout=10)
            if done.returncode != 0:
                raise ViaductError(f"node {node}: {done.stderr.strip() or words}", 1)
            return done.stdout
        status, output, errors = call(["exec", f"{self._name}:{node}", "--", *words])
        if status != 0:
            raise ViaductError(f"node {node}: {line_of(errors)}; {NEEDS_ROOT}", 1)
        return output

    def node(self, name: str) -> dict[str, Any]:  # noqa: D102
        return node_of(name, lambda words: self._in_node(name, words))

    def path(self, first: str, last: str) -> dict[str, Any]:  # noqa: D102
        return path_of(first, last, self._owner, self._in_node)

    def packets(self, link: str) -> dict[str, Any]:  # noqa: D102
        ends = self._link(link)["ends"]
        if not ends:
            raise ViaductError("packets are shown of a lab's links; here tcpdump shows them", 2)
        if os.geteuid() != 0:
            raise ViaductError(f"packets: {NEEDS_ROOT}", 1)
        with self._lock:
            if link not in self._packets:
                while len(self._packets) >= 4:  # those of a few links at a time
                    self._packets.pop(next(iter(self._packets))).close()
                node, interface = ends[0]
                try:
                    self._packets[link] = Packets(f"{self._name}.{node}", interface)
                except OSError as error:
                    raise ViaductError(f"packets of {link}: {error.strerror}", 1) from error
            kept = self._packets[link]
        return {"at": " ".join(ends[0]), "seen": kept.seen, "lines": kept.lines()}

    def _link(self, name: str) -> dict[str, Any]:
        if name not in self._links:
            raise ViaductError(f"there is no link {name}", 2)
        return self._links[name]

    def set_spec(self, link: str, direction: str, spec: str) -> None:  # noqa: D102
        nodes = self._link(link)["nodes"]
        node, _, way = direction.rpartition(" ")  # of a shared link: "n0 up"
        if way not in ("up", "down") or (node and node not in nodes):
            raise ViaductError(f"direction {direction}: up or down", 2)
        pair = f"{link}.{node}" if node else link
        checked(["path", "set", self._name, f"--pair={pair}", f"--{way}={spec}"])

    def set_link(self, link: str, up: bool) -> None:  # noqa: D102
        self._link(link)
        if self._kind != "lab":
            raise ViaductError("an interface of a path is taken down with ip link", 2)
        checked(["link", f"{self._name}:{link}", "up" if up else "down"])

    def resume(self) -> None:  # noqa: D102
        raise ViaductError(f"{self._kind} {self._name} is not paused", 2)

    def close(self) -> None:  # noqa: D102
        self._statistics.close()
        for packets in self._packets.values():
            packets.close()
        for counters in self._counters.values():
            counters.close()


class Paused:
    """A simulation that stands still at a virtual instant (`viaduct run --pause-at`).

    Of what has ns-3's stack the simulation tells itself; in nodes with a kernel programs are run. A
    program lets some virtual time pass, so each node and link is asked once, when somebody looks at
    it, and again only after a change.
    """

    def __init__(self, record: Mapping[str, Any]) -> None:
        self._name, self._pid = str(record["name"]), int(record["pid"])
        self._time, self._nodes = float(record["time"]), list(record["nodes"])
        self._kernels = set(record["kernels"])
        # A C++ program says nothing but what is in its record.
        self._tells = all(link["name"] for link in record["links"])
        self._lock = threading.Lock()
        self._read: dict[tuple[str, ...], str] = {}
        self._ended: str | None = None
        self._links: dict[str, dict[str, Any]] = {}
        for link in record["links"]:
            ends = list(zip(link["nodes"], link["interfaces"], strict=True))
            name = link["name"] or (
                "-".join(link["nodes"]) if len(ends) < 4 else f"lan of {link['nodes'][0]}"
            )
            while name in self._links:
                name += "'"
            self._links[name] = {"name": name, "nodes": link["nodes"], "ends": ends}

    def topology(self) -> dict[str, Any]:  # noqa: D102
        nodes = [
            {"name": name, "plane": "a real kernel" if name in self._kernels else "ns-3"}
            for name in self._nodes
        ]
        links = list(self._links.values())
        return {
            "kind": "paused",
            "name": self._name,
            "paused_at": self._time,
            "nodes": nodes,
            "links": links,
        }

    def _look(self) -> None:
        if self._ended is None and not any(
            each["pid"] == self._pid and each["time"] == self._time for each in paused_simulations()
        ):
            self._ended = f"simulation {self._name} goes on, or has ended"

    def state(self) -> dict[str, Any]:  # noqa: D102
        self._look()
        found: dict[str, Any] = {"time": time.time(), "stamp": time.monotonic(), "links": {}}
        return found if self._ended is None else {**found, "ended": self._ended}

    def _once(self, key: tuple[str, ...], words: list[str], where: str) -> str:
        with self._lock:
            if key not in self._read:
                status, output, errors = call(words)
                if status != 0:
                    raise ViaductError(f"{where}{line_of(errors or output)}", 1)
                self._read[key] = output
            return self._read[key]

    def _in_node(self, node: str, *words: str) -> str:
        self._check(node)
        command = ["kernel", "shell", f"{self._pid}:{node}", "--", *words]
        return self._once((node, *words), command, f"node {node}: ")

    def _check(self, node: str) -> None:
        if node not in self._nodes:
            raise ViaductError(f"there is no node {node}", 2)

    def _told(self, to: str = "") -> dict[str, Any]:
        """What the simulation tells of itself (base/result/paused.h)."""
        words = ["ls", str(self._pid), "--json", *([f"--to={to}"] if to else [])]
        told: dict[str, Any] = json.loads(self._once(("", to), words, ""))
        return told

    def _interfaces(self, node: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        (told,) = (each for each in self._told()["nodes"] if each["name"] == node)
        return told, {each["name"]: each for each in told["interfaces"]}

    def node(self, name: str) -> dict[str, Any]:  # noqa: D102
        self._check(name)
        if name in self._kernels:
            return node_of(name, lambda words: self._in_node(name, *words))
        told, interfaces = self._interfaces(name)
        rows = [
            [each["name"], "UP" if each["up"] else "DOWN", " ".join(each["addresses"])]
            for each in interfaces.values()
        ]
        return {"name": name, "addresses": rows, "routes": told["routes"]}

    def path(self, first: str, last: str) -> dict[str, Any]:  # noqa: D102
        self._check(first)
        self._check(last)
        if self._kernels != set(self._nodes):
            return self._told_path(first, last)
        owner = {
            each["local"]: node
            for node in self._nodes
            for interface in json.loads(self._in_node(node, "ip", "-j", "address"))
            if interface["ifname"] != "lo"
            for each in interface.get("addr_info", [])
        }
        return path_of(first, last, owner, lambda node, words: self._in_node(node, *words))

    def _told_path(self, first: str, last: str) -> dict[str, Any]:
        following = self._told(last)["next"]
        nodes = [first]
        while nodes[-1] != last:
            hop = following[nodes[-1]]
            if not hop:
                why = f"{nodes[-1]} has no route to {last}"
                return {"nodes": nodes, "complete": False, "why": why}
            nodes.append(hop)
            if hop in nodes[:-1]:
                return {"nodes": nodes, "complete": False, "why": "a loop"}
        return {"nodes": nodes, "complete": True, "to": last}

    def packets(self, link: str) -> dict[str, Any]:
        """No packets: they stand still. The queues and counters of the link and its interfaces."""
        lines = []
        ends = self._link(link)["ends"]
        if self._tells:
            (told,) = (each for each in self._told()["links"] if each["name"] == link)
            lines += [f"link {link} {'up' if told['up'] else 'down'}"]
            for each in told["statistics"]:
                row = _pipeline(each)
                causes = ", ".join(f"{cause} {count}" for cause, count in row["causes"].items())
                lines += [f"{each['pair']} {each['direction']}: {row['spec']}"]
                counted = f"{row['packets']} packets, {row['waiting']} wait, {row['lost']} lost"
                lines += [f" {counted}{f' ({causes})' if causes else ''}"]
            lines += [""]
        for node, interface in ends:
            if node not in self._kernels:
                each = self._interfaces(node)[1][interface]
                lines += [f"{node} {interface} {'UP' if each['up'] else 'DOWN'}"]
                if "waiting" in each:
                    lines += [f" queue: {each['waiting']} packets wait, {each['dropped']} dropped"]
                lines += [""]
                continue
            queues = self._in_node(node, "tc", "-s", "qdisc", "show", "dev", interface)
            counters = self._in_node(node, "ip", "-s", "link", "show", "dev", interface)
            lines += [f"{node} {interface}", *queues.splitlines(), *counters.splitlines(), ""]
        return {"lines": lines}

    def _link(self, name: str) -> dict[str, Any]:
        if name not in self._links:
            raise ViaductError(f"there is no link {name}", 2)
        return self._links[name]

    def set_spec(self, link: str, direction: str, spec: str) -> None:  # noqa: D102
        raise ViaductError("the SPECs of a simulation change by its events", 2)

    def set_link(self, link: str, up: bool) -> None:  # noqa: D102
        ends = self._link(link)["ends"]
        if all(node in self._kernels for node, _ in ends):
            for node, interface in ends:
                self._in_node(node, "ip", "link", "set", interface, "up" if up else "down")
        else:
            checked(["link", f"{self._pid}:{link}", "up" if up else "down"])
        with self._lock:
            self._read.clear()

    def resume(self) -> None:
        """Lets it go on."""
        checked(["kernel", "resume", str(self._pid)])

    def close(self) -> None:  # noqa: D102
        return


def paused_simulations() -> list[dict[str, Any]]:
    """Those of this user that are alive."""
    every = json.loads(checked(["ls", "--json"]))
    return [e for e in every if e["kind"] == "paused simulation" and e["state"] == "paused"]


def find(what: str | None, interval: str) -> Source:
    """The source of a name, a file or a folder; without one, the only lab that there is."""
    if what is not None and ("/" in what or Path(what).exists()):
        return Finished(Path(what))
    labs = [
        each["lab"]
        for each in json.loads(checked(["ls", "--json"]))
        if each.get("kind") == "lab" and each["state"] != "dead"
    ]
    paused = paused_simulations()
    if what is None:
        every = [*labs, *(str(each["name"]) for each in paused)]
        if len(every) != 1:
            there = f"; there are: {', '.join(every)}" if every else ""
            raise ViaductError(f"give a lab, a path or results to show{there}", 2)
        return Live(labs[0], "lab", interval) if labs else Paused(paused[0])
    if what in labs:
        return Live(what, "lab", interval)
    for each in paused:
        if what in (each["name"], str(each["pid"])):
            return Paused(each)
    paths = json.loads(checked(["path", "ls", "--json"]))
    if any(each["name"] == what and each["state"] == "running" for each in paths):
        return Live(what, "path", interval)
    there = "no file, and no lab, path or paused simulation of this name is there; viaduct ls"
    raise ViaductError(f"{what}: {there}", 2)
