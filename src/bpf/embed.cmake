# Compiles forward.bpf.c for the kernel's virtual machine and embeds the object file in the room. A
# build without clang or libbpf has forwarder_absent.cc instead, which says so. The object is
# embedded as it is, not as bpftool's skeleton: bpftool comes with a kernel's tools, under a name of
# its own in each distribution.
set(folder ${CMAKE_CURRENT_LIST_DIR})
if(NOT VIADUCT_BPF_CLANG OR NOT TARGET PkgConfig::BPF)
  message(STATUS "viaduct: no clang or no libbpf-dev: the data plane ebpf is left out")
  set_source_files_properties(${folder}/forwarder.cc PROPERTIES HEADER_FILE_ONLY ON)
  return()
endif()
set_source_files_properties(${folder}/forwarder_absent.cc PROPERTIES HEADER_FILE_ONLY ON)
set(object ${CMAKE_CURRENT_BINARY_DIR}/forward.bpf.o)
set(embedded ${CMAKE_CURRENT_BINARY_DIR}/forward_program.cc)
add_custom_command(
  OUTPUT ${embedded}
  COMMAND ${VIADUCT_BPF_CLANG} -O2 -g -target bpf -mcpu=v2 -Wall -Wextra -Werror
          -I/usr/include/${CMAKE_LIBRARY_ARCHITECTURE} -c ${folder}/forward.bpf.c -o ${object}
  COMMAND ${CMAKE_COMMAND} -DOBJECT=${object} -DOUTPUT=${embedded} -P ${folder}/object_to_cc.cmake
  DEPENDS ${folder}/forward.bpf.c ${folder}/port.h ${folder}/object_to_cc.cmake
  VERBATIM)
target_sources(viaduct_bpf PRIVATE ${embedded})
target_link_libraries(viaduct_bpf PUBLIC PkgConfig::BPF)
