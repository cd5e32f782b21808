# Debian packages (`make package`): viaduct (the command, without ns-3), viaduct-ns3 (the simulator, the
# module, the ns-3 kit), viaduct-dev (headers, CMake and pkg-config files) and python3-viaduct.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME viaduct)
set(CPACK_PACKAGE_VENDOR Viaduct)
set(CPACK_PACKAGE_CONTACT "Viaduct developers <viaduct@users.noreply.github.com>")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL viaduct dev python)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(this_version "(= ${PROJECT_VERSION})")

set(CPACK_DEBIAN_VIADUCT_PACKAGE_NAME viaduct)
set(CPACK_DEBIAN_VIADUCT_PACKAGE_RECOMMENDS "iperf3, iproute2, iputils-ping, nftables, sudo, viaduct-ns3")
set(CPACK_DEBIAN_VIADUCT_DESCRIPTION "emulated network paths, and ns-3 protocols on real networks
viaduct path and viaduct shell put real traffic behind an emulated path: delay,
jitter, loss, reordering, bit errors, rates and queues that are exact to the
nanosecond of the model, with the lateness of each packet measured. With
viaduct-ns3 it runs scenarios of ns-3 protocols in simulation and on real
interfaces, forwarded by this machine's kernel.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME viaduct-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "viaduct ${this_version}, libfmt-dev, nlohmann-json3-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "viaduct-ns3 ${this_version}, cmake, g++")
set(CPACK_DEBIAN_DEV_DESCRIPTION "headers and libraries of viaduct
The path emulator as a static library (viaduct::path) and the headers of the
ns-3 module (viaduct::ns3), for CMake and pkg-config.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-viaduct)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "viaduct ${this_version}, python3 (>= 3.11), python3-yaml")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "viaduct-ns3 ${this_version}, python3-pandas, python3-matplotlib, python3-scipy")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${VIADUCT_ROOT}/packaging/python/postinst;${VIADUCT_ROOT}/packaging/python/prerm")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "Python package of viaduct, sweeps and comparisons
Runs, labs, paths and shells from Python, with results as pandas frames;
topologies that are built in Python; the commands viaduct sweep and
viaduct compare.")
# What needs DPDK to be installed is a package of its own.
if(TARGET viaduct-dpdk)
  list(APPEND CPACK_COMPONENTS_ALL dpdk)
  set(CPACK_DEBIAN_DPDK_PACKAGE_NAME viaduct-dpdk)
  set(CPACK_DEBIAN_DPDK_PACKAGE_DEPENDS "viaduct ${this_version}")
  # Drivers that DPDK loads by itself: the library is not linked with them. Their packages' names have DPDK's version.
  foreach(driver net_af_packet mempool_ring)
    find_library(VIADUCT_DPDK_DRIVER_${driver} rte_${driver} HINTS ${DPDK_LIBRARY_DIRS})
    get_filename_component(file ${VIADUCT_DPDK_DRIVER_${driver}} REALPATH)
    execute_process(COMMAND dpkg-query -S ${file} OUTPUT_VARIABLE package ERROR_QUIET)
    if(package MATCHES "^([^:]+):")
      string(APPEND CPACK_DEBIAN_DPDK_PACKAGE_DEPENDS ", ${CMAKE_MATCH_1}")
    endif()
  endforeach()
  set(CPACK_DEBIAN_DPDK_PACKAGE_SUGGESTS "librte-meta-bus, librte-meta-net")
  set(CPACK_DEBIAN_DPDK_DESCRIPTION "ports of viaduct by DPDK
The library that viaduct and its ns-3 module load when a path or a device is
to use DPDK (--port dpdk, Port=Dpdk).")
endif()
if(TARGET ns3-viaduct)
  list(APPEND CPACK_COMPONENTS_ALL ns3)
  set(CPACK_DEBIAN_NS3_PACKAGE_NAME viaduct-ns3)
  set(CPACK_DEBIAN_NS3_PACKAGE_DEPENDS "viaduct ${this_version}")
  set(CPACK_DEBIAN_NS3_PACKAGE_RECOMMENDS "libmetis5")  # opened where nodes are placed on several hosts
  set(CPACK_DEBIAN_NS3_PACKAGE_CONTROL_EXTRA ${VIADUCT_ROOT}/packaging/triggers)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${Ns3_LIBRARY_DIR} ${CMAKE_BINARY_DIR}/ns3)
  set(CPACK_DEBIAN_NS3_DESCRIPTION "simulator of viaduct and its ns-3 module
viaduct-sim, which runs scenarios for the command, the module with emulated
paths, offloaded data planes and real kernels in virtual time, its examples,
and the ns-3 that it was built with.")
  install(FILES ${VIADUCT_ROOT}/packaging/viaduct-ns3.lintian RENAME viaduct-ns3
          DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT ns3 EXCLUDE_FROM_ALL)
endif()

install(FILES ${VIADUCT_ROOT}/packaging/viaduct.lintian RENAME viaduct
        DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT viaduct EXCLUDE_FROM_ALL)

# What each Debian package must have; no part of `cmake --install`.
find_program(GZIP_PROGRAM gzip)
execute_process(COMMAND git -C ${VIADUCT_ROOT} log -1 --format=%cD OUTPUT_VARIABLE VIADUCT_DATE
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT VIADUCT_DATE)
  string(TIMESTAMP VIADUCT_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
endif()
configure_file(${VIADUCT_ROOT}/packaging/changelog.in ${CMAKE_BINARY_DIR}/packaging/changelog @ONLY)
execute_process(COMMAND ${GZIP_PROGRAM} -9nkf ${CMAKE_BINARY_DIR}/packaging/changelog)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  install(FILES ${VIADUCT_ROOT}/packaging/copyright ${CMAKE_BINARY_DIR}/packaging/changelog.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}
          COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
include(CPack)
