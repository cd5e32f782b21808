"""The command line: NAME [--quick] [--json FILE] [--report DIR].

`viaduct bench` passes its arguments here, and its own path in the environment's VIADUCT. Needs
root: it makes network namespaces.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

from . import (
    aodv,
    bridge,
    clients,
    dataplane,
    device,
    fidelity,
    kernelstack,
    multinode,
    olsr,
    path,
    wmrp,
)
from .environment import REPOSITORY, describe
from .plan import Plan, make_plan
from .process import BenchError, Interrupted, OutOfTime, at_most, stopping_on_signals
from .results import Result
from .session import Session

_BENCHMARKS = {
    "bridge": bridge.measure,
    "olsr": olsr.measure,
    "multinode": multinode.measure,
    "wmrp": wmrp.measure,
    "aodv": aodv.measure,
    "dataplane": dataplane.measure,
    "clients": clients.measure,
    "device": device.measure,
    "path": path.measure,
    "kernelstack": kernelstack.measure,
    "fidelity": fidelity.measure,
}
_NOTES_OF_THEIR_OWN = {
    "aodv": aodv.NOTES,
    "dataplane": dataplane.NOTES,
    "clients": clients.NOTES,
    "device": device.NOTES,
    "path": path.NOTES,
    "wmrp": wmrp.NOTES,
    "kernelstack": kernelstack.NOTES,
    "fidelity": fidelity.NOTES,
}
_FAILURE, _USAGE, _ENVIRONMENT, _INTERRUPTED = 1, 2, 3, 130


def _default_build() -> Path:
    command = os.environ.get("VIADUCT")
    return Path(command).resolve().parent if command else REPOSITORY / "build"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="viaduct bench",
        description="Reproduces a published experiment in network namespaces, beside its figures.",
        epilog="Example: viaduct bench olsr --quick --json olsr.json --report olsr-report\n"
        "VIADUCT_NS3=DIR measures with another ns-3 than the one of this build, for the baseline "
        "and for us.",
    )
    parser.add_argument("name", choices=list(_BENCHMARKS), help="which experiment")
    parser.add_argument("--quick", action="store_true", help="at most 5 minutes; prints omissions")
    parser.add_argument(
        "--rounds",
        type=int,
        help="interleaved rounds (default 5, quick: 3; kernelstack 3, fidelity 3, quick: 1)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result")
    parser.add_argument("--report", type=Path, metavar="DIR", help="write a page, CSV and JSON")
    parser.add_argument("--check", action="store_true", help="exit status 1 if a bar is missed")
    parser.add_argument(
        "--build", type=Path, default=_default_build(), metavar="DIR", help="what to measure"
    )
    arguments = parser.parse_args()
    if arguments.rounds is not None and arguments.rounds < 1:
        parser.error("--rounds: at least 1")
    return arguments


def _build_against(ns3: str) -> Path:
    """Build the product and the baseline against another ns-3; the build folder is kept."""
    build = REPOSITORY / f"build-ns3-{hashlib.sha256(ns3.encode()).hexdigest()[:8]}"
    print(f"building against {ns3} in {build}", file=sys.stderr)
    for command in (
        ["cmake", "-S", str(REPOSITORY), "-B", str(build), f"-DNS3_DIR={ns3}"]
        + ["-DCMAKE_BUILD_TYPE=Release", "-DVIADUCT_WITH_TESTS=OFF"],
        ["cmake", "--build", str(build), "-j", str(os.cpu_count())],
    ):
        if subprocess.run(command, stdout=sys.stderr, check=False).returncode != 0:
            raise BenchError(f"VIADUCT_NS3={ns3}: building against it failed, see above")
    return build


def _notes(result: Result) -> list[str]:
    ns3 = result.environment["ns3"]
    assert isinstance(ns3, dict)
    return [
        f"ns-3 {ns3['version']} with {ns3['asserts']}, for the baseline and for us.",
        "Source, forwarder and sink are namespaces of one machine. The sender is pinned to CPU 0, "
        "the forwarder's process to CPU 1, all of its threads (ns-3's FdNetDevice has its own).",
        "A kernel data plane runs inside the sender's system call, so the sender is braked "
        "instead of losing packets: its saturated rate is what was offered and received.",
        "The UDP receiver looks at one packet in 64; the kernel counts the others, so that the "
        "sink takes no time from the forwarder.",
        "Each figure is the median of interleaved rounds, with lowest and highest; a ratio is "
        "formed in each round.",
        "The traditional line is ns-3's own code only: RealtimeSimulatorImpl, FdNetDevice at both "
        "ends, CSMA (Ethernet, as the lab's links are) of 1 Gbit/s without delay or queue "
        "discipline between the routers. Point-to-point channels, which have no ARP and fewer "
        "events, are up to half again as fast: multinode shows them as traditional_p2p.",
    ]


def _run(name: str, build: Path, plan: Plan, result: Result) -> bool:
    """Whether the benchmark came to its end within its budget; else what it has measured stays."""
    with Session(build) as session:
        left = None if plan.budget is None else plan.budget - plan.elapsed()
        try:
            with at_most(left):
                _BENCHMARKS[name](session, plan, result)
        except OutOfTime:
            plan.shortened.append("the rest is missing: the time was over")
            return False
        except Interrupted:
            plan.shortened.append("the rest is missing: interrupted")
            result.timing["interrupted"] = True
            return False
        except BenchError as error:
            # The figures measured so far are still written.
            print(f"viaduct bench: {error}", file=sys.stderr)
            plan.shortened.append(f"the rest is missing: {error}")
            result.timing["failed"] = str(error)
            return False
    return True


def _measure(arguments: argparse.Namespace, plan: Plan) -> Result:
    build = arguments.build
    if os.environ.get("VIADUCT_NS3"):
        build = _build_against(os.environ["VIADUCT_NS3"])
    result = Result(arguments.name, describe(build))
    own = _NOTES_OF_THEIR_OWN.get(arguments.name)
    result.notes = _notes(result) if own is None else list(own)
    complete = _run(arguments.name, build, plan, result)
    result.timing |= {
        "complete": complete,
        "shortened": plan.shortened,
        "seconds": round(plan.elapsed(), 1),
        "rounds": plan.rounds,
        "quick": plan.quick,
        "load_average_at_end": os.getloadavg()[0],
    }
    return result


def _print_ratios(result: Result, shortened: list[str]) -> bool:
    print(f"{'figure':34} {'median':>9} {'low':>9} {'high':>9} {'bar':>15}")
    for key, ratio in result.ratios.items():
        print(
            f"{key:34} {ratio.value:9.3g} {ratio.low:9.3g} {ratio.high:9.3g} "
            f"{ratio.bar_text():>15}"
            f"  {'holds' if ratio.holds() else 'MISSED'}"
        )
    for what in shortened:
        print(f"shortened: {what}")
    holds = all(ratio.holds() for ratio in result.ratios.values())
    return holds and bool(result.timing["complete"])


def _write(arguments: argparse.Namespace, result: Result) -> None:
    if arguments.json:
        arguments.json.write_text(json.dumps(result.as_json(), indent=1) + "\n")
    if arguments.report:
        from . import report  # imported late, because loading matplotlib takes a second

        print(f"report: {report.write(result, arguments.report)}")


def main() -> int:
    """Run; returns the exit status."""
    arguments = _arguments()
    if os.geteuid() != 0:
        print(
            "viaduct bench: needs root itself, for network namespaces; run "
            f"sudo /usr/bin/python3 {Path(sys.argv[0]).resolve()} {arguments.name}",
            file=sys.stderr,
        )
        return _ENVIRONMENT
    # The variables of sudo are removed: with them the command would run as the invoking user, who
    # must not write where the harness measures.
    for variable in ("SUDO_UID", "SUDO_GID", "SUDO_USER"):
        os.environ.pop(variable, None)
    plan = make_plan(arguments.name, arguments.quick, arguments.rounds)
    try:
        with stopping_on_signals():
            result = _measure(arguments, plan)
        hold = _print_ratios(result, plan.shortened)
        _write(arguments, result)
        if result.timing.get("interrupted"):
            raise Interrupted
    except BenchError as error:
        print(f"viaduct bench: {error}", file=sys.stderr)
        return _FAILURE
    except Interrupted:
        print("viaduct bench: interrupted; everything it made is removed", file=sys.stderr)
        return _INTERRUPTED
    failed = "failed" in result.timing or (arguments.check and not hold)
    return _FAILURE if failed else 0
