"""What `cmake --install` puts under a prefix works wherever that is moved; others build with it."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from labs import BUILD, REPOSITORY, Done, environment, execute

SCENARIO = """
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/viaduct-module.h"
#include "path/pipeline.h"
#include <iostream>
using namespace ns3;
int main()
{
    NodeContainer nodes(2);
    InternetStackHelper().Install(nodes);
    PathHelper link;
    link.SetChannelAttribute("Up", StringValue("delay=20ms"));
    auto devices = link.Install(nodes);
    Ipv4AddressHelper("10.0.0.0", "255.255.255.252").Assign(devices);
    Simulator::Stop(Seconds(1));
    Simulator::Run();
    Simulator::Destroy();
    const auto spec = viaduct::path::ParseSpec("delay=0.02s");
    std::cout << "simulated " << viaduct::path::FormatSpec(spec) << std::endl;
}
"""
PATH = """
#include "path/spec/spec.h"
#include <cstdio>
int main()
{
    std::puts(viaduct::path::FormatSpec(viaduct::path::ParseSpec("loss=0.01 delay=0.02s")).c_str());
}
"""
BUILD_FILE = """
cmake_minimum_required(VERSION 3.22)
project(mine LANGUAGES C CXX)
find_package(viaduct REQUIRED COMPONENTS path ns3)
add_executable(scenario scenario.cc)
target_link_libraries(scenario PRIVATE viaduct::ns3)
add_executable(spec spec.cc)
target_link_libraries(spec PRIVATE viaduct::path)
"""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation that was moved after it was made, by way of DESTDIR."""
    stage, place = tmp_path_factory.mktemp("stage"), tmp_path_factory.mktemp("moved") / "viaduct"
    os.environ["DESTDIR"] = str(stage)
    try:
        execute(["cmake", "--install", str(BUILD), "--prefix", "/opt/viaduct"]).expect()
    finally:
        del os.environ["DESTDIR"]
    assert sorted(path.name for path in stage.iterdir()) == ["opt"], "all is in DESTDIR"
    shutil.move(stage / "opt" / "viaduct", place)
    return place


def installed(prefix: Path, *words: str | Path, cwd: Path | None = None) -> Done:
    return execute([str(prefix / "bin" / "viaduct"), *map(str, words)], cwd=cwd)


def test_no_file_names_the_build(prefix: Path) -> None:
    kit = execute([str(REPOSITORY / "setup/ns3-kit"), "--path"]).expect().output.strip()
    names = {each.encode() for each in (str(REPOSITORY), str(BUILD), kit)}
    files = [file for file in prefix.rglob("*") if file.is_file()]
    assert len(files) > 100
    for file in files:
        text = file.read_bytes()
        assert not any(name in text for name in names), file


def test_the_command_finds_its_companions(prefix: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    text = installed(prefix, "init", "line,3", "-").expect().output
    file.write_text(text)
    schema = prefix / "share" / "viaduct" / "scenario.schema.json"
    assert f"$schema=file://{schema.resolve()}" in text
    assert schema.exists()
    installed(prefix, "run", file, "--mode", "simulate", cwd=Path("/")).expect()
    assert "bench/run.py" in installed(prefix, "bench", "--help").error_line(3)


def test_real_modes_of_the_installed_command(prefix: Path, lab: str, tmp_path: Path) -> None:
    file = tmp_path / f"{lab}.yaml"
    file.write_text(
        f"name: {lab}\nnodes: 2\nrouting: {{protocol: static}}\n"
        "links: [{line: all, spec: delay=1ms}]\n"
        "duration: 1s\nflows: [{type: udp, from: n0, to: n1, rate: 1Mbit}]\n"
    )
    installed(prefix, "run", file).expect()
    done = installed(
        prefix, "shell", "--up", "delay=5ms", "--", "sh", "-c", "ping -c 1 $VIADUCT_HOST"
    )
    assert "1 received" in done.expect().output


def test_manual_and_completions_are_there(prefix: Path) -> None:
    share = prefix / "share"
    for name in (
        "man/man1/viaduct.1.gz",
        "bash-completion/completions/viaduct",
        "zsh/site-functions/_viaduct",
        "fish/vendor_completions.d/viaduct.fish",
        "viaduct/examples/olsr-line.yaml",
    ):
        assert (share / name).stat().st_size > 0


def test_others_build_with_cmake(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "scenario.cc").write_text(SCENARIO)
    (tmp_path / "spec.cc").write_text(PATH)
    (tmp_path / "CMakeLists.txt").write_text(BUILD_FILE)
    build = tmp_path / "build"
    execute(
        ["cmake", "-S", str(tmp_path), "-B", str(build), f"-DCMAKE_PREFIX_PATH={prefix}"]
    ).expect()
    execute(["cmake", "--build", str(build)], timeout=600).expect()
    assert execute([str(build / "scenario")]).expect().output == "simulated delay=20ms\n"
    assert execute([str(build / "spec")]).expect().output == "delay=20ms loss=1%\n"


def test_others_build_a_layer_2_protocol(prefix: Path, tmp_path: Path) -> None:
    """The one of docs/howto/layer2.md, and a program alone, as written there."""
    folder = tmp_path / "flooding"
    shutil.copytree(next(prefix.glob("share/viaduct/examples/flooding")), folder)
    page = (REPOSITORY / "docs/howto/layer2.md").read_text()
    repeater = page.split("```cpp\n")[1].split("```")[0]
    (folder / "repeater.cc").write_text(repeater)
    with (folder / "CMakeLists.txt").open("a") as file:
        file.write("add_library(repeater SHARED repeater.cc)\n")
        file.write("target_link_libraries(repeater PRIVATE viaduct::program)\n")
    configure = ["cmake", "-S", str(folder), "-B", str(folder / "build")]
    execute([*configure, f"-DCMAKE_PREFIX_PATH={prefix}"]).expect()
    execute(["cmake", "--build", str(folder / "build")], timeout=600).expect()
    for change in ([], ["--set", "data_plane={program: build/librepeater.so}"]):
        ring = ["ring.yaml", "--set", "duration=1s", "--set", "events=[]"]
        if change:  # a repeater knows no loops
            change += ["--set", "links.0={line: [n0, n1, n2, n3]}", "--set", "routing=none"]
        for mode in ("simulate", "offload"):
            done = installed(prefix, "run", *ring, *change, "--mode", mode, cwd=folder).expect()
            assert done.output.count("   0%") == 2, done


def test_others_build_with_pkg_config(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "spec.cc").write_text(PATH)
    (tmp_path / "scenario.cc").write_text(SCENARIO)
    folder = next(prefix.glob("lib*/pkgconfig"))
    for source, module in (("spec", "viaduct-path"), ("scenario", "viaduct-ns3")):
        flags = execute(
            ["env", f"PKG_CONFIG_PATH={folder}", "pkg-config", "--cflags", "--libs", module]
        ).expect()
        program = tmp_path / source
        command = ["g++", "-std=c++20", f"{program}.cc", *flags.output.split(), "-o", str(program)]
        execute(command, timeout=600).expect()
        assert "delay=20ms" in execute([str(program)]).expect().output


@pytest.mark.parametrize("example", ["viaduct-path-channel", "olsr-line-simulation"])
def test_installed_examples_run(prefix: Path, example: str, tmp_path: Path) -> None:
    program = prefix / "libexec" / "viaduct" / "examples" / example
    execute([str(program)], cwd=tmp_path).expect()


def test_nothing_is_found_in_the_working_directory(prefix: Path, tmp_path: Path) -> None:
    """A program called by its name only is not looked for beside what is here."""
    (tmp_path / "viaduct").mkdir()
    trap = tmp_path / "viaduct-sim"
    trap.write_text("#!/bin/sh\ntouch trapped\n")
    trap.chmod(0o755)
    path = f"PATH={prefix / 'bin'}:{environment()['PATH']}"
    words = ["env", path, "viaduct", "run", "--topo", "line,2", "--mode", "simulate"]
    execute([*words, "--duration", "1s"], cwd=tmp_path).expect()
    assert not (tmp_path / "trapped").exists()


def test_nothing_is_looked_for_in_a_folder_of_another_machine(prefix: Path) -> None:
    """Run paths are relative to the file that has them: also those of the ns-3 kit."""
    libraries = sorted((prefix / "lib").rglob("*.so*"))
    assert len(libraries) > 10
    for library in libraries:
        header = execute(["readelf", "-d", str(library)]).expect().output
        for found in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", header):
            assert all(each.startswith("$ORIGIN") for each in found.split(":")), (library, found)
