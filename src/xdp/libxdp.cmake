# A build without libxdp, or without what the room bpf needs, has absent.cc, which says so.
set(folder ${CMAKE_CURRENT_LIST_DIR})
if(TARGET PkgConfig::XDP AND TARGET PkgConfig::BPF AND VIADUCT_BPF_CLANG)
  target_link_libraries(viaduct_xdp PUBLIC PkgConfig::XDP)
  set_source_files_properties(${folder}/absent.cc PROPERTIES HEADER_FILE_ONLY ON)
else()
  message(STATUS "viaduct: no libxdp-dev, libbpf-dev or clang: ports by AF_XDP are left out")
  set_source_files_properties(${folder}/program.cc ${folder}/xdp_port_root_test.cc
                              PROPERTIES HEADER_FILE_ONLY ON)
endif()
viaduct_bpf_program(viaduct_xdp xdp/redirect Redirect xdp/redirect.h io/xdp_stamp.h)
if(TARGET xdp_root_test)
  target_link_libraries(xdp_root_test PRIVATE viaduct_dpdk)  # one suite runs over all ports
  if(TARGET viaduct-dpdk)
    add_dependencies(xdp_root_test viaduct-dpdk)
  endif()
endif()
