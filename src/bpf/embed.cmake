# Compiles the room's programs for the kernel's virtual machine and embeds the object files in the room.
# A build without clang or libbpf has absent.cc instead, which says so. The objects are embedded as
# they are, not as bpftool's skeletons: bpftool comes with a kernel's tools, under a name of its own in
# each distribution.
set(folder ${CMAKE_CURRENT_LIST_DIR})
set(loaders ${folder}/copy_filter.cc ${folder}/forwarder.cc ${folder}/joiner.cc ${folder}/object.cc ${folder}/rbridge_program.cc
            ${folder}/refusal.cc ${folder}/refusal_root_test.cc ${folder}/share_program.cc ${folder}/upcall_program.cc)
if(NOT VIADUCT_BPF_CLANG OR NOT TARGET PkgConfig::BPF)
  message(STATUS "viaduct: no clang or no libbpf-dev: the data planes ebpf and joined are left out")
  set_source_files_properties(${loaders} PROPERTIES HEADER_FILE_ONLY ON)
  return()
endif()
set_source_files_properties(${folder}/absent.cc PROPERTIES HEADER_FILE_ONLY ON)
target_link_libraries(viaduct_bpf PUBLIC PkgConfig::BPF)

# viaduct_bpf_program(FILE NAME headers...): FILE.bpf.c as kNAMEProgram (program.h).
function(viaduct_bpf_program file name)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${file}.bpf.o)
  set(embedded ${CMAKE_CURRENT_BINARY_DIR}/${file}_program.cc)
  list(TRANSFORM ARGN PREPEND ${folder}/ OUTPUT_VARIABLE headers)
  add_custom_command(
    OUTPUT ${embedded}
    COMMAND ${VIADUCT_BPF_CLANG} -O2 -g -target bpf -mcpu=v2 -Wall -Wextra -Werror
            -ffile-prefix-map=${VIADUCT_ROOT}/= -fdebug-compilation-dir=.  # in the programs' line numbers
            -I/usr/include/${CMAKE_LIBRARY_ARCHITECTURE} -c ${folder}/${file}.bpf.c -o ${object}
    COMMAND ${CMAKE_COMMAND} -DOBJECT=${object} -DOUTPUT=${embedded} -DNAME=${name}
            -P ${folder}/object_to_cc.cmake
    DEPENDS ${folder}/${file}.bpf.c ${headers} ${folder}/object_to_cc.cmake
    VERBATIM)
  target_sources(viaduct_bpf PRIVATE ${embedded})
endfunction()
viaduct_bpf_program(copy Copy packet.bpf.h port.h copy.h)
viaduct_bpf_program(forward Forward packet.bpf.h port.h)
viaduct_bpf_program(join Join packet.bpf.h random.bpf.h port.h join.h)
viaduct_bpf_program(rbridge RBridge packet.bpf.h port.h rbridge_frame.bpf.h rbridge.h)
viaduct_bpf_program(redirect Redirect packet.bpf.h redirect.h ../io/xdp_stamp.h)
viaduct_bpf_program(share Share share.h)
viaduct_bpf_program(upcall Upcall upcall.h)
