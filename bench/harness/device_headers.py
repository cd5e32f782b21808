"""Part of benchmark `device`: packets of which ns-3 has the headers only, against whole ones."""

from __future__ import annotations

from .analysis import ratio_of_rounds
from .device_systems import Found
from .forwarder import Middle, between
from .path_traffic import await_path, trial
from .plan import Plan
from .results import Result, measured
from .session import Session

_ATTRIBUTE = "HeaderBytes"  # an attribute of RingNetDevice
_BYTES = 128
_FRAME = 1514  # bytes of a frame with 1472 bytes of UDP payload


def _bridge(session: Session, name: str, label: str, *words: str) -> Middle:
    system = between(session, f"headers-{name}", name, label)
    system.take_all_frames()
    system.start(session, "ns3-bridge", "--device=ring", "--left=b0", "--right=b1", *words)
    await_path(session, system)
    return system


def measure(session: Session, plan: Plan, result: Result, found: Found) -> None:
    """A bridge of ns-3 between two of our devices, saturated."""
    if _ATTRIBUTE not in found.attributes:
        result.notes.append(
            f"distilled_vs_full is left out: RingNetDevice has no attribute {_ATTRIBUTE} here."
        )
        return
    whole = _bridge(session, "whole", "whole frames")
    headers = _bridge(session, "headers", "headers only", f"--set={_ATTRIBUTE}={_BYTES}")
    rates: dict[str, list[float]] = {whole.name: [], headers.name: []}
    for _, order in plan.turns([whole, headers]):
        for system in order:
            seen = trial(session, system, _FRAME, 0, plan.trial)
            rates[system.name].append((1 - seen.loss) * seen.offered_pps)
    for system in (whole, headers):
        result.add("headers", system, size=_FRAME, **measured("pps", rates[system.name]))
        system.stop()
    result.ratios["distilled_vs_full"] = ratio_of_rounds(
        rates[headers.name], rates[whole.name], 1.2
    )
