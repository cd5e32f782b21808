"""Static multicast routes of a scenario and flows to groups: n0 - n1, n2 and n3 behind n1."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from labs import execute, results, viaduct

Write = Callable[[str], Path]
TREE = """
nodes: 5
links:
  - {pair: [n0, n1]}
  - {pair: [n1, n2]}
  - {pair: [n1, n3]}
  - {pair: [n3, n4]}
routing: {protocol: static}
duration: 6s
"""
GROUPS = {"ipv4": "239.1.1.1", "ipv6": "ff15::1"}
ADDRESSING = {"ipv4": "", "ipv6": "addressing: {ipv4: none, ipv6: fd00::/48}\n"}
PLANES = ["kernel", "ebpf", "joined", "userspace"]
HOWS = ["mode: simulate\n", *(f"mode: offload\ndata_plane: {plane}\n" for plane in PLANES)]


def routes(group: str) -> str:
    """To n2 and n4, which is behind n3; nothing to who is on no branch."""
    return f"""
multicast:
  - {{node: n1, source: n0, group: "{group}", from: n0-n1, to: [n1-n2, n1-n3]}}
  - {{node: n3, source: n0, group: "{group}", from: n1-n3, to: all}}
"""


def flow(group: str, receiver: str, more: str = "") -> str:
    """Of 100 packets in a second, five of them."""
    settings = f'size: 100, rate: 80kbit, duration: 5s, group: "{group}"{more}'
    return f"  - {{type: udp, from: n0, to: {receiver}, {settings}}}\n"


@pytest.mark.parametrize("family", list(GROUPS))
@pytest.mark.parametrize("how", HOWS)
def test_every_receiver_is_counted(how: str, family: str, scenario: Write, tmp_path: Path) -> None:
    group = GROUPS[family]
    flows = "flows:\n" + "".join(flow(group, node) for node in ("n2", "n4", "n3"))
    file = tmp_path / "run.json"
    text = TREE + ADDRESSING[family] + how + routes(group) + flows
    viaduct("run", scenario(text), "--json", file).expect()
    found = results(file)["flows"]
    assert [each["to"] for each in found] == ["n2", "n4", "n3"]
    for each in found:
        # A sender that the machine keeps from sending offers less.
        assert 490 <= each["sent"] + each.get("not_offered", 0) <= 500, each
        assert each["sent"] > 100
        assert each["received"] == each["sent"], each
        assert "duplicates" not in each, "n3 forwards what it gets"


@pytest.mark.parametrize("family", list(GROUPS))
@pytest.mark.parametrize("how", HOWS[1:])
def test_static_routes_wait_for_no_packet(how: str, family: str, lab: str, scenario: Write) -> None:
    """The kernels have the entries at once: of packets that wait for one they keep four."""
    group = GROUPS[family]
    text = TREE + ADDRESSING[family] + how + routes(group)
    viaduct("up", scenario(text)).expect()
    try:
        for node, outputs in (("n1", ["eth1", "eth2"]), ("n3", ["eth1"])):
            version = family.replace("ipv", "-")
            command = ["ip", "-n", f"{lab}.{node}", version, "mroute", "show", "table", "all"]
            words = execute(command).expect().output.split()
            assert f",{group})" in "".join(words), words
            assert [word for word in words if word.startswith("eth")] == ["eth0", *outputs], words
    finally:
        viaduct("down", lab).expect()


@pytest.mark.parametrize("how", [HOWS[0], HOWS[1]])
def test_who_is_on_no_branch_gets_nothing(how: str, scenario: Write, tmp_path: Path) -> None:
    """And the others get all; the sender's other stream goes the other way."""
    group, other = GROUPS["ipv4"], "239.1.1.2"
    text = TREE + how + routes(group) + "  - {node: n1, source: n0, group: " + other
    text += ", from: n0-n1, to: [n1-n3]}\n"
    flows = "flows:\n" + flow(group, "n2") + flow(other, "n2") + flow(other, "n3")
    file = tmp_path / "run.json"
    viaduct("run", scenario(text + flows), "--json", file)
    found = results(file)["flows"]
    assert [each["sent"] - each["received"] for each in found] == [0, found[1]["sent"], 0]


@pytest.mark.alone  # what a busy machine loses at one receiver is no loss before the fork
@pytest.mark.parametrize("family", list(GROUPS))
@pytest.mark.parametrize("how", [HOWS[0], HOWS[1]])
def test_a_loss_before_the_fork_has_one_place(
    how: str, family: str, scenario: Write, tmp_path: Path
) -> None:
    """It is missing at three receivers, and was lost at no other place."""
    group = GROUPS[family]
    flows = "flows:\n" + "".join(flow(group, node) for node in ("n2", "n4", "n3"))
    tree = TREE.replace("{pair: [n0, n1]}", "{pair: [n0, n1], spec: loss=20%}")
    file = tmp_path / "run.json"
    text = tree + ADDRESSING[family] + how + routes(group) + flows
    done = viaduct("run", scenario(text), "--json", file).expect()
    run = results(file)
    assert len({each["received"] for each in run["flows"]}) == 1, (run["flows"], done.output)
    assert {each["group"] for each in run["flows"]} == {group}
    (up,) = (one for one in run["engine"]["pipelines"] if one["direction"] == "up")
    lost = run["flows"][0]["sent"] - run["flows"][0]["received"]
    assert 0 < lost <= up["fates"]["lost"] <= lost + 5, "the sender's last markers too"
    assert "lost elsewhere" not in done.output, done


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("multicast: [{node: n1}]", "source"),
        (routes("10.0.0.1"), "is not a multicast group"),
        (routes("224.0.0.5"), "never forwarded"),
        (routes("ff02::5"), "never forwarded"),
        (routes("ff15::1"), "no such address"),
        (routes("239.1.1.1").replace("source: n0", "source: fd00::1"), "family"),
        (routes("239.1.1.1").replace("source: n0", "source: n9"), "n9"),
        (routes("239.1.1.1").replace("from: n0-n1", "from: n3-n4"), "is not on link"),
        (routes("239.1.1.1").replace("[n1-n2, n1-n3]", "[n1-n2, n0-n1]"), "the key from has"),
        (routes("239.1.1.1").replace("[n1-n2, n1-n3]", "[n1-n2, n1-n2]"), "given twice"),
        (routes("239.1.1.1").replace("node: n3", "node: n1"), "is not on link|already"),
        (routes("239.1.1.1") + "mode: emulate\n", "simulate and offload"),
        (routes("239.1.1.1") + "data_plane: simulator\n", "data plane of the node is"),
        ("flows: [{type: tcp, from: n0, to: n2, group: 239.1.1.1}]", "only for type udp"),
        ("flows: [{from: n0, to: n2, group: 10.0.0.1}]", "is not a multicast group"),
        ('flows: [{from: n0, to: n2, group: ""}]', "flows[0].group"),
        ("flows: [{from: n0, to: n2, group: 239.1.1.1, link: n1-n2}]", "no address"),
        ("flows: [{from: n0, to: n2, link: n0-n1}]", "only with the key group"),
        ("flows: [{from: n0, to: n2, group: 239.1.1.1, address: ipv4}]", "destination address"),
        (
            "flows: [{from: n0, to: n2, group: 239.1.1.1}, "
            "{from: n0, to: n3, group: 239.1.1.1, size: 99}]",
            "the same link",
        ),
        (
            "flows: [{from: n0, to: n2, group: 239.1.1.1}, {from: n0, to: n2, group: 239.1.1.1}]",
            "already",
        ),
    ],
)
def test_bad_input(text: str, message: str, scenario: Write) -> None:
    """Is refused with the place."""
    file = scenario(TREE + text + "\n")
    line = viaduct("run", file).error_line(2)
    assert any(part in line for part in message.split("|")), line
    assert f"{file}:" in line


def test_what_is_printed_is_read_again(scenario: Write, tmp_path: Path) -> None:
    text = TREE + routes("239.1.1.1") + "flows:\n" + flow("239.1.1.1", "n2", ", link: n0-n1")
    first = viaduct("run", scenario(text), "--print").expect().output
    assert "10.0.0.1" in first
    again = tmp_path / "again.yaml"
    again.write_text(first)
    assert viaduct("run", again, "--print").expect().output == first


@pytest.mark.parametrize("family", list(GROUPS))
@pytest.mark.parametrize("how", HOWS)
def test_a_route_is_of_its_source_alone(
    how: str, family: str, scenario: Write, tmp_path: Path
) -> None:
    """Two sources send to one group by one wire, and each has its own branch behind it."""
    group = GROUPS[family]
    text = TREE.replace("nodes: 5", "nodes: 6").replace(
        "routing:", "  - {pair: [n5, n0]}\nrouting:"
    )
    text += ADDRESSING[family] + how
    text += f"""
multicast:
  - {{node: n0, source: n5, group: "{group}", from: n5-n0, to: [n0-n1]}}
  - {{node: n1, source: n0, group: "{group}", from: n0-n1, to: [n1-n2]}}
  - {{node: n1, source: n5, group: "{group}", from: n0-n1, to: [n1-n3]}}
flows:
"""
    for source in ("n0", "n5"):
        for receiver in ("n2", "n3"):
            text += flow(group, receiver).replace("from: n0", f"from: {source}")
    file = tmp_path / "run.json"
    viaduct("run", scenario(text), "--json", file).expect()
    received = {(each["from"], each["to"]): each for each in results(file)["flows"]}
    for branch in (("n0", "n2"), ("n5", "n3")):
        assert received[branch]["sent"] > 100
        assert received[branch]["received"] == received[branch]["sent"], branch
    for other in (("n0", "n3"), ("n5", "n2")):
        assert received[other]["received"] == 0, other
