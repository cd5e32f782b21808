# All rooms, in an order in which each needs only earlier ones. From this table come the targets (cmake/Rooms.cmake),
# what the ns-3 module consists of, the order that setup/check-layers enforces on the includes, and its drawing in
# docs/architecture.md. A wing is a folder below src with its rooms; its README has its door: the headers that other
# wings may include.

# base: what any program needs, and what was measured, as types.
viaduct_room(base LIBS fmt::fmt)
viaduct_room(base/text LIBRARY base NEEDS base LIBS nlohmann_json::nlohmann_json)
viaduct_room(base/wire LIBRARY base PURE NEEDS base)
viaduct_room(base/result NEEDS base/text LIBS nlohmann_json::nlohmann_json)

# sys: Linux.
viaduct_room(sys NEEDS base TESTS_NEED sys/process sys/ipc)
viaduct_room(sys/process NEEDS sys)
viaduct_room(sys/network NEEDS base/wire LIBS PkgConfig::NL PkgConfig::PCAP)
viaduct_room(sys/card NEEDS sys/network)
viaduct_room(sys/machine NEEDS base/text sys/network sys/process TESTS_NEED sys/ipc)
viaduct_room(sys/bpf NEEDS base/wire sys)
viaduct_room(sys/ipc NEEDS base/text sys/process)
viaduct_room(sys/privilege NEEDS sys/ipc)

# port: where frames enter and leave a process.
viaduct_room(port NEEDS base/wire LIBS PkgConfig::PCAP)
viaduct_room(port/packet NEEDS port LIBS Threads::Threads)
viaduct_room(port/control NEEDS port TESTS_NEED port/packet)
viaduct_room(port/dpdk NEEDS port sys/network sys/process TESTS_NEED port/packet LIBS ${CMAKE_DL_LIBS})
viaduct_room(port/netmap NEEDS port sys/network)
viaduct_room(port/xdp NEEDS port sys/bpf sys/machine TESTS_NEED port/packet port/dpdk)

# path: the path emulator.
viaduct_room(path/packet LIBRARY path PURE NEEDS base/wire TESTS_NEED path)
viaduct_room(path/grammar LIBRARY path PURE NEEDS base/text)
viaduct_room(path/trace LIBRARY path PURE NEEDS path/grammar path/packet TESTS_NEED path)
viaduct_room(path/model LIBRARY path PURE NEEDS path/trace TESTS_NEED path)
viaduct_room(path/queue LIBRARY path PURE NEEDS path/trace TESTS_NEED path)
viaduct_room(path/spec LIBRARY path PURE NEEDS path/model path/queue)
viaduct_room(path PURE NEEDS path/spec)
viaduct_room(path/engine NEEDS base/result path port sys/ipc sys/network TESTS_NEED port/packet LIBS PkgConfig::URING)

# plane: what forwards a node's packets.
viaduct_room(plane/rbridge PURE NEEDS base/wire)
viaduct_room(plane/bpf NEEDS sys/bpf sys/network)
viaduct_room(plane/forward NEEDS plane/rbridge port/packet sys sys/network LIBS ${CMAKE_DL_LIBS})
viaduct_room(plane/fib NEEDS plane/bpf plane/forward)

# remote: nodes whose programs are on other machines.
viaduct_room(remote/tunnel NEEDS base/result port sys/bpf)

# guest: real Linux kernels in virtual time.
viaduct_room(guest/embed NEEDS base LIBS Threads::Threads ${CMAKE_DL_LIBS})
viaduct_room(guest/image NEEDS base/result guest/embed sys/process)
viaduct_room(guest/process NEEDS guest/image sys/machine)
viaduct_room(guest/virtio NEEDS base/wire guest/embed sys/ipc)
viaduct_room(guest/time NEEDS guest/process guest/virtio TESTS_NEED guest)
viaduct_room(guest/agent NEEDS guest/time)
viaduct_room(guest/service NEEDS guest/agent)
viaduct_room(guest/shell NEEDS guest/agent)
viaduct_room(guest NEEDS guest/service)  # tests of all of them

# lab: a topology as namespaces and links, and the privileged process.
viaduct_room(lab NEEDS base/result path/spec plane/fib sys/card sys/machine)
viaduct_room(lab/broker NEEDS lab path/engine port/dpdk port/netmap port/xdp remote/tunnel sys/privilege)

# ns3: the module; sim is the program viaduct-sim.
viaduct_room(ns3/base NEEDS base/wire)
viaduct_room(ns3/neighbour NEEDS ns3/base)
viaduct_room(ns3/guard NEEDS ns3/neighbour)
viaduct_room(ns3/payload NEEDS ns3/base port)
viaduct_room(ns3/reactor NEEDS port sys/process)
viaduct_room(ns3/device NEEDS ns3/guard ns3/payload ns3/reactor port/dpdk port/netmap port/packet port/xdp)
viaduct_room(ns3/path NEEDS ns3/device path)
viaduct_room(ns3/routes NEEDS ns3/base plane/fib)
viaduct_room(ns3/socket NEEDS ns3/base ns3/reactor guest/service)
viaduct_room(ns3/frames NEEDS ns3/guard ns3/reactor lab/broker)
viaduct_room(ns3/wmrp NEEDS ns3/frames)
viaduct_room(ns3/offload NEEDS ns3/path ns3/routes ns3/socket ns3/wmrp port/control)
viaduct_room(ns3/tunnel NEEDS ns3/offload)
viaduct_room(ns3/kernel NEEDS ns3/offload guest/shell)
viaduct_room(ns3/examples NEEDS ns3/kernel ns3/tunnel)
viaduct_room(ns3/test NEEDS ns3/kernel ns3/tunnel)
if(VIADUCT_IN_NS3)
  return()  # the module stands on no more
endif()

# path, once more: `viaduct path`, `viaduct shell`, cabling of switches.
viaduct_room(path/live NEEDS path/engine port/dpdk port/netmap port/packet port/xdp sys/privilege)
viaduct_room(path/shell NEEDS path/live)
viaduct_room(path/switches NEEDS base/wire sys/process)

# remote, once more: both ends of claims, a client's node.
viaduct_room(remote/claim NEEDS base/wire sys/ipc LIBS OpenSSL::SSL nlohmann_json::nlohmann_json)
viaduct_room(remote/join NEEDS remote/claim sys/machine sys/privilege)

# scenario: the scenario file; what the command and the simulator say to each other.
viaduct_room(scenario/messages NEEDS base/result sys/ipc)
viaduct_room(scenario/text NEEDS base LIBS yaml-cpp)
viaduct_room(scenario NEEDS scenario/text lab path LIBS yaml-cpp OpenSSL::Crypto)
viaduct_room(ns3/sim NEEDS ns3/kernel ns3/tunnel scenario scenario/messages)

# run: a run from start to report.
viaduct_room(run/load NEEDS base/result sys/network LIBS CLI11::CLI11)
viaduct_room(run/report/page NEEDS base/text)
viaduct_room(run/report NEEDS run/report/page scenario)
viaduct_room(run/simulator NEEDS guest/shell path/engine scenario scenario/messages)
viaduct_room(run/traffic NEEDS lab/broker run/simulator)
viaduct_room(run NEEDS run/traffic)
viaduct_room(run/hub NEEDS remote/join run run/report)
viaduct_room(run/machines NEEDS run)
viaduct_room(run/watch NEEDS path/live remote/join run/hub)

# cli: `viaduct`.
viaduct_room(cli NEEDS path/shell path/switches run/machines run/watch LIBS CLI11::CLI11)

viaduct_room(bench NEEDS ns3/kernel run/load)
