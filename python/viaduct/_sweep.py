"""viaduct sweep: a scenario with many values and seeds, resumable, alone or as ranks of mpirun."""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import csv
import fcntl
import hashlib
import io
import itertools
import json
import os
import re
import signal
import statistics
import subprocess
import threading
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ._command import (
    ViaductError,
    call,
    checked,
    how_to_install,
    line_of,
    say,
    start,
    stop,
    write_whole,
)
from ._figures import figures_of, troubles_of
from ._result import load
from ._statistics import interval


def values_of(text: str) -> tuple[str, list[str]]:
    """KEY=A,B, KEY=1..20, or KEY:;=A;B with the separator after the colon."""
    match = re.fullmatch(r"([^=:]+)(?::([^=]))?=(.+)", text, re.DOTALL)
    if not match:
        raise ViaductError(f"--over {text}: not KEY=VALUES, as in seed=1..20", 2)
    key, separator, rest = match.groups()
    bounds = re.fullmatch(r"(\d+)\.\.(\d+)", rest)
    if bounds and separator is None:
        first, last = int(bounds[1]), int(bounds[2])
        if last < first:
            raise ViaductError(f"--over {text}: {last} is before {first}", 2)
        return key, [str(number) for number in range(first, last + 1)]
    values = rest.split(separator or ",")
    if "" in values:
        raise ViaductError(f"--over {text}: a value is empty", 2)
    return key, values


def points_of(over: Sequence[str]) -> list[dict[str, str]]:
    """All combinations; the values of a key that is given twice are joined."""
    axes: dict[str, list[str]] = {}
    for key, values in map(values_of, over):
        axes.setdefault(key, []).extend(values)
    for key, values in axes.items():
        twice = next((value for value in values if values.count(value) > 1), None)
        if twice is not None:
            raise ViaductError(f"--over {key}: the value {twice} is there twice", 2)
    return [dict(zip(axes, each, strict=True)) for each in itertools.product(*axes.values())]


@dataclass
class Run:
    """One combination of values."""

    values: dict[str, str]
    words: list[str]  # of `viaduct run`
    real: bool
    stem: Path  # its files, without their suffix

    @property
    def file(self) -> Path:
        """Its results; there only if they are whole."""
        return self.stem.with_suffix(".json")


class Sweep:
    """The work of one folder, which several processes may share."""

    def __init__(self, runs: list[Run], folder: Path, call_id: str) -> None:
        self.runs, self.folder, self.call_id = runs, folder, call_id
        self.children: set[Any] = set()
        self.guard = threading.Lock()
        self.ending = False

    def failure(self, run: Run) -> str | None:
        """What went wrong with it in this call of the sweep."""
        with contextlib.suppress(OSError, ValueError):
            said = json.loads(run.stem.with_suffix(".failed").read_text(encoding="utf-8"))
            if said["call"] == self.call_id:
                return str(said["error"])
        return None

    def perform(self, run: Run, wait: bool) -> None:
        """Does a run unless it is done; what another process is doing is left to it, or waited for.

        The kernel frees the lock of a process that dies.
        """
        with _locked(run.stem.with_suffix(".lock"), wait) as mine:
            if not mine or self.failure(run) is not None or self.ending or self._is_done(run):
                return
            with _locked(self.folder / "real.lock", True) if run.real else _nothing():
                self._perform(run)

    def _is_done(self, run: Run) -> bool:
        """Whether its results are there; such as a full disk or a power cut left are removed."""
        if not run.file.exists():
            return False
        try:
            figures_of(load(run.file))
        except (ViaductError, KeyError, TypeError, AttributeError):
            said = f"{run.file.name}: is damaged, and is run again"
            say(f"{_shown(run.values)}: {said}", to_errors=True)
            run.file.unlink()
            return False
        return True

    def _perform(self, run: Run) -> None:
        part = run.stem.with_suffix(".part")
        part.unlink(missing_ok=True)
        with self.guard:
            if self.ending:
                return
            process = start(
                ["run", "--quiet", f"--json={part}", *run.words],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            self.children.add(process)
        errors = process.communicate()[1]
        with self.guard:
            self.children.discard(process)
        if self.ending:
            part.unlink(missing_ok=True)
            return
        trouble = line_of(errors) if process.returncode != 0 else None
        if trouble is None:
            trouble = next(iter(troubles_of(json.loads(part.read_text(encoding="utf-8")))), None)
        if trouble is None:
            run.stem.with_suffix(".failed").unlink(missing_ok=True)
            part.replace(run.file)
        else:
            part.unlink(missing_ok=True)
            said = json.dumps({"call": self.call_id, "error": trouble})
            write_whole(run.stem.with_suffix(".failed"), said)
        say(f"{_shown(run.values)}: {trouble or 'done'}", to_errors=True)

    def end(self) -> None:
        """Gives up what is under way."""
        with self.guard:
            self.ending = True
            children = list(self.children)
        for child in children:
            if child.poll() is None:
                stop(child)

    def all(self, jobs: int, wait: bool) -> None:
        """Does all runs, simulations `jobs` at a time, then the real ones."""
        pool = concurrent.futures.ThreadPoolExecutor(jobs)
        try:
            simulated = [run for run in self.runs if not run.real]
            for done in [pool.submit(self.perform, run, wait) for run in simulated]:
                _await(done)
            for run in self.runs:
                if run.real:
                    _await(pool.submit(self.perform, run, wait))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            self.end()
            raise
        finally:
            pool.shutdown()


def _await(future: concurrent.futures.Future[None]) -> None:
    """Waits for it. Looks up now and then, as a signal that another thread gets wakes no lock."""
    while not concurrent.futures.wait([future], timeout=0.2).done:
        pass
    future.result()


@contextlib.contextmanager
def _locked(file: Path, wait: bool) -> Iterator[bool]:
    with file.open("a") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        yield True


@contextlib.contextmanager
def _nothing() -> Iterator[bool]:
    yield True


def _shown(values: dict[str, str]) -> str:
    return " ".join(f"{key}={value}" for key, value in values.items()) or "the run"


def planned(options: argparse.Namespace, folder: Path) -> list[Run]:
    """The runs; whatever the command refuses in one of them ends the sweep before it begins.

    A run is known by its whole scenario: one that was changed is run again.
    """
    version = checked(["version"])
    runs = []
    for values in points_of(options.over):
        words = [f"--set={each}" for each in options.set]
        words += [f"--set={key}={value}" for key, value in values.items()]
        words += [f"--mode={options.mode}"] if options.mode else []
        words += ["--", options.file]
        status, effective, errors = call(["run", "--print", *words])
        if status != 0:
            raise ViaductError(f"{_shown(values)}: {line_of(errors)}", status)
        name = hashlib.sha256((version + effective).encode()).hexdigest()[:20]
        real = yaml.safe_load(effective)["mode"] != "simulate"
        runs.append(Run(values, words, real, folder / "runs" / name))
    return runs


def gathered(sweep: Sweep, confidence: float) -> dict[str, Any]:
    """What results.json holds: every run, and each point's means over its seeds."""
    runs: list[dict[str, Any]] = []
    for run in sweep.runs:
        row: dict[str, Any] = {"values": run.values}
        if run.file.exists():
            figures = figures_of(json.loads(run.file.read_text(encoding="utf-8")))
            row |= {"state": "done", "file": f"runs/{run.file.name}", "figures": figures}
        else:
            error = sweep.failure(run)
            row |= {
                "state": "failed" if error else "not run",
                **({"error": error} if error else {}),
            }
        runs.append(row)
    points: dict[str, dict[str, Any]] = {}
    for row in runs:
        values = {key: value for key, value in row["values"].items() if key != "seed"}
        point = points.setdefault(
            json.dumps(values), {"values": values, "runs": 0, "done": 0, "samples": {}}
        )
        point["runs"] += 1
        point["done"] += row["state"] == "done"
        for name, value in row.get("figures", {}).items():
            point["samples"].setdefault(name, []).append(value)
    for point in points.values():
        point["figures"] = {}
        for name, samples in point["samples"].items():
            low, high = interval(samples, confidence) or (None, None)
            mean = statistics.fmean(samples)
            point["figures"][name] = {"n": len(samples), "mean": mean, "low": low, "high": high}
    return {"sweep": 1, "confidence": confidence, "runs": runs, "points": list(points.values())}


def table_of(data: dict[str, Any]) -> str:
    """results.csv: a line for each run and figure; one without for a run that has none."""
    keys = list(data["runs"][0]["values"])
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*keys, "state", "error", "figure", "value"])
    for run in data["runs"]:
        start_of = [*run["values"].values(), run["state"], run.get("error", "")]
        writer.writerows([*start_of, *each] for each in run.get("figures", {"": ""}).items())
    return text.getvalue()


def plot(data: dict[str, Any], folder: Path) -> None:
    """A figure as SVG for each figure's name, points in their order with intervals."""
    try:
        import matplotlib
    except ImportError:
        say(f"viaduct: no plots: {how_to_install('matplotlib')}", to_errors=True)
        return
    matplotlib.use("svg")
    from matplotlib import pyplot

    folder.mkdir(exist_ok=True)
    points = data["points"]
    for name in sorted({name for point in points for name in point["figures"]}):
        axes = pyplot.figure(figsize=(7, 4)).gca()
        for place, point in enumerate(points):
            if (each := point["figures"].get(name)) is not None:
                half = 0 if each["low"] is None else each["high"] - each["mean"]
                axes.errorbar([place], [each["mean"]], yerr=[half], fmt="o", capsize=4)
        axes.set_xticks(range(len(points)), [_shown(p["values"]) for p in points], rotation=20)
        axes.set_ylabel(name)
        pyplot.tight_layout()
        pyplot.savefig(folder / (re.sub(r"[^\w.-]+", "_", name) + ".svg"))
        pyplot.close()


def _rank() -> int:
    return int(os.environ.get("OMPI_COMM_WORLD_RANK", "0"))


def main(words: Sequence[str]) -> int:
    """The subcommand; returns the exit status."""
    parser = argparse.ArgumentParser("viaduct sweep")
    parser.add_argument("file")
    parser.add_argument("--over", action="append", default=[])
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--mode")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--out", type=Path, default=Path("sweep"))
    parser.add_argument("--confidence", type=float, default=0.95)
    parser.add_argument("--no-plots", action="store_true")
    options = parser.parse_args(words)
    ranks = int(os.environ.get("OMPI_COMM_WORLD_SIZE", "1"))
    jobs = options.jobs if options.jobs is not None else 1 if ranks > 1 else os.cpu_count() or 1
    if jobs < 1 or not 0 < options.confidence < 1:
        raise ViaductError("--jobs must be at least 1, --confidence between 0 and 1", 2)
    if options.file == "-":
        raise ViaductError("a sweep reads its scenario many times: give a file, not -", 2)
    call_id = os.environ.get("PMIX_NAMESPACE") if ranks > 1 else None
    sweep = Sweep(planned(options, options.out), options.out, call_id or uuid.uuid4().hex)
    (options.out / "runs").mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    interrupted = False
    try:
        sweep.all(jobs, wait=False)
        if _rank() != 0:
            return 0  # rank 0 says what failed
        sweep.all(jobs, wait=True)
    except KeyboardInterrupt:
        interrupted = True
    if _rank() != 0:
        return 130
    data = gathered(sweep, options.confidence)
    write_whole(options.out / "results.json", json.dumps(data, indent=1) + "\n")
    write_whole(options.out / "results.csv", table_of(data))
    if not options.no_plots and not interrupted:
        plot(data, options.out / "plots")
    states = [run["state"] for run in data["runs"]]
    print(
        f"{len(states)} runs: " + ", ".join(f"{states.count(s)} {s}" for s in sorted(set(states)))
    )
    for run in data["runs"]:
        if run["state"] == "failed":
            say(f"failed: {_shown(run['values'])}: {run['error']}")
    say(f"results: {options.out / 'results.json'}")
    return 130 if interrupted else int(states.count("done") != len(states))
