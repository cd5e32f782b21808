# eBPF in this build. With clang and libbpf, the programs are compiled for the kernel's virtual
# machine and embedded as object files; without them, absent.cc replaces the files that load
# programs. The object files are embedded as they are, and not as skeletons of bpftool, because each
# distribution packages bpftool with the tools of its kernel, under a different name.
set(VIADUCT_BPF_FOLDER ${CMAKE_CURRENT_LIST_DIR})
set(loaders object map ring refusal)
list(TRANSFORM loaders REPLACE "(.+)" "${VIADUCT_BPF_FOLDER}/\\1.cc")
if(VIADUCT_BPF_CLANG AND TARGET PkgConfig::BPF)
  set(VIADUCT_HAS_EBPF ON)
  set_source_files_properties(${VIADUCT_BPF_FOLDER}/absent.cc PROPERTIES HEADER_FILE_ONLY ON)
  target_link_libraries(viaduct_sys_bpf PUBLIC PkgConfig::BPF)
else()
  set(VIADUCT_HAS_EBPF OFF)
  message(STATUS "viaduct: no clang or no libbpf-dev: the data planes ebpf and joined are left out")
  set_source_files_properties(${loaders} ${VIADUCT_BPF_FOLDER}/refusal_test.cc PROPERTIES HEADER_FILE_ONLY ON)
endif()

# viaduct_bpf_program(TARGET PATH NAME headers...): adds to TARGET the program PATH.bpf.c below src,
# embedded as kNAMEProgram, an EmbeddedProgram of viaduct::bpf (sys/bpf/object.h). The headers are
# below src, too.
function(viaduct_bpf_program target path name)
  get_filename_component(file ${path} NAME)
  set(source ${VIADUCT_ROOT}/src/${path}.bpf.c)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${file}.bpf.o)
  set(embedded ${CMAKE_CURRENT_BINARY_DIR}/${file}.bpf.cc)
  set(embed ${CMAKE_COMMAND} -DOUTPUT=${embedded} -DNAME=${name} -P ${VIADUCT_BPF_FOLDER}/object_to_cc.cmake)
  if(VIADUCT_HAS_EBPF)
    list(TRANSFORM ARGN PREPEND ${VIADUCT_ROOT}/src/ OUTPUT_VARIABLE headers)
    list(INSERT embed 1 -DOBJECT=${object})
    add_custom_command(
      OUTPUT ${embedded}
      COMMAND ${VIADUCT_BPF_CLANG} -O2 -g -target bpf -mcpu=v2 -Wall -Wextra -Werror -I${VIADUCT_ROOT}/src
              -ffile-prefix-map=${VIADUCT_ROOT}/= -fdebug-compilation-dir=.  # in the programs' line numbers
              -I/usr/include/${CMAKE_LIBRARY_ARCHITECTURE} -c ${source} -o ${object}
      COMMAND ${embed}
      DEPENDS ${source} ${headers} ${VIADUCT_BPF_FOLDER}/object_to_cc.cmake
      VERBATIM)
  else()
    add_custom_command(OUTPUT ${embedded} COMMAND ${embed}
                       DEPENDS ${VIADUCT_BPF_FOLDER}/object_to_cc.cmake VERBATIM)
  endif()
  target_sources(${target} PRIVATE ${embedded})
endfunction()
