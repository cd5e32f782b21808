# What `cmake --install` and `make package` put where, below any prefix: nothing that is installed names
# the folder it was built in. The command finds its companions by where it is itself (src/sys/process/find_program.h).
#   bin/viaduct                    the command
#   libexec/viaduct/               its companions: simulator, load generator, programs inside guests
#   libexec/viaduct/examples/      the examples of the ns-3 module, and two protocols as libraries
#   lib/libns3-viaduct.so          the ns-3 module
#   lib/viaduct/ns3/               the ns-3 that it was built with, if that is the kit
#   include/viaduct/, lib/libviaduct_*.a, lib/cmake/viaduct/, lib/pkgconfig/    for programs of others
#   lib/python3/dist-packages/     the Python package
#   share/                         manual, completion, schema, scenario files, documents
option(VIADUCT_BUNDLE_NS3 "Install the ns-3 kit too, if it is what was built with" ON)
set(libexec ${CMAKE_INSTALL_LIBEXECDIR}/viaduct)
set(headers ${CMAKE_INSTALL_INCLUDEDIR}/viaduct)
set(config ${CMAKE_INSTALL_LIBDIR}/cmake/viaduct)
set(data ${CMAKE_INSTALL_DATADIR}/viaduct)

# Debugging information names the build folder.
install(CODE "set(CMAKE_INSTALL_DO_STRIP 1)" ALL_COMPONENTS)

# viaduct_find_libraries(TARGET FOLDER LIBRARY_FOLDER...): the run path of what is installed in FOLDER.
function(viaduct_find_libraries target folder)
  set(paths "")
  foreach(library_folder IN LISTS ARGN)
    if(IS_ABSOLUTE ${library_folder})
      list(APPEND paths ${library_folder})
    else()
      file(RELATIVE_PATH way /prefix/${folder} /prefix/${library_folder})
      list(APPEND paths "$ORIGIN/${way}")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${paths}")
endfunction()

# The command.
install(TARGETS viaduct RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT viaduct)
install(TARGETS viaduct-load viaduct-guest RUNTIME DESTINATION ${libexec} COMPONENT viaduct)
install(TARGETS viaduct-random LIBRARY DESTINATION ${libexec} COMPONENT viaduct)
if(TARGET viaduct-dpdk)
  install(TARGETS viaduct-dpdk LIBRARY DESTINATION ${libexec} COMPONENT dpdk)
endif()
install(DIRECTORY ${VIADUCT_ROOT}/examples DESTINATION ${data} COMPONENT viaduct)
install(DIRECTORY ${VIADUCT_ROOT}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT viaduct
        PATTERN decisions EXCLUDE PATTERN images EXCLUDE)
install(FILES ${VIADUCT_ROOT}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT viaduct)

# What the command prints about itself.
set(share ${CMAKE_BINARY_DIR}/share)
set(generated "")
function(viaduct_print file)
  get_filename_component(folder ${share}/${file} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  string(REGEX REPLACE "\\.gz$" "" plain ${file})
  set(compress "")
  if(NOT plain STREQUAL file)
    set(compress COMMAND gzip -9nf ${share}/${plain})
  endif()
  add_custom_command(OUTPUT ${share}/${file} DEPENDS viaduct VERBATIM
                     COMMAND viaduct docs ${ARGN} > ${share}/${plain} ${compress})
  install(FILES ${share}/${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder_in_share} COMPONENT viaduct)
  set(generated ${generated} ${share}/${file} PARENT_SCOPE)
endfunction()
foreach(document "viaduct/scenario.schema.json schema" "man/man1/viaduct.1.gz man"
        "bash-completion/completions/viaduct completion bash"
        "zsh/site-functions/_viaduct completion zsh"
        "fish/vendor_completions.d/viaduct.fish completion fish")
  separate_arguments(words UNIX_COMMAND "${document}")
  list(POP_FRONT words file)
  get_filename_component(folder_in_share ${file} DIRECTORY)
  viaduct_print(${file} ${words})
endforeach()
add_custom_target(documents ALL DEPENDS ${generated})
add_dependencies(product documents)
# The Python package: where Debian's Python looks, below any prefix; the command finds it there too.
install(DIRECTORY ${VIADUCT_ROOT}/python/viaduct DESTINATION lib/python3/dist-packages COMPONENT python
        PATTERN __pycache__ EXCLUDE)
file(MAKE_DIRECTORY ${share}/viaduct)
file(CREATE_LINK ${VIADUCT_ROOT}/python ${share}/viaduct/python SYMBOLIC)
# The benchmarks are for source trees only.
file(CREATE_LINK ${VIADUCT_ROOT}/bench ${share}/viaduct/bench SYMBOLIC)

# For programs of others: headers, the path emulator as a library.
install(DIRECTORY ${VIADUCT_ROOT}/src/ DESTINATION ${headers} COMPONENT dev
        FILES_MATCHING PATTERN "*.h" PATTERN test EXCLUDE PATTERN "test_*.h" EXCLUDE PATTERN "*.bpf.h" EXCLUDE)
install(TARGETS viaduct_path viaduct_base EXPORT viaduct-path
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev INCLUDES DESTINATION ${headers})
install(CODE "foreach(name path base)
  execute_process(COMMAND ${CMAKE_STRIP} --strip-debug
    \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libviaduct_\${name}.a COMMAND_ERROR_IS_FATAL ANY)
endforeach()" COMPONENT dev)
install(EXPORT viaduct-path NAMESPACE viaduct:: DESTINATION ${config} COMPONENT dev)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/viaduct-config-version.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH up /${config} /)
set(NS3_MODULE_NAMES "")
set(NS3_FOLDER "")
set(LIBRARY_FOLDERS ${CMAKE_INSTALL_LIBDIR})

if(TARGET ns3-viaduct)
  # The kit is nobody's: it comes along. Another ns-3 is where its owner has it.
  if(VIADUCT_BUNDLE_NS3 AND Ns3_IS_KIT)
    set(NS3_FOLDER ${CMAKE_INSTALL_LIBDIR}/viaduct/ns3)
    file(GLOB ns3_libraries ${Ns3_LIBRARY_DIR}/lib*.so*)
    list(FILTER ns3_libraries EXCLUDE REGEX "click|openflow|visualizer|brite")  # and their licences
    install(FILES ${ns3_libraries} DESTINATION ${NS3_FOLDER}/lib64 COMPONENT ns3)
    install(DIRECTORY ${Ns3_INCLUDE_DIR}/ns3 DESTINATION ${NS3_FOLDER}/include COMPONENT dev)
    list(APPEND LIBRARY_FOLDERS ${NS3_FOLDER}/lib64)
    # Their run paths name a folder of the machine on which the kit was made, before their own.
    install(CODE "set(kit \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${NS3_FOLDER}/lib64\")" COMPONENT ns3)
    install(SCRIPT ${VIADUCT_ROOT}/cmake/OwnRunPaths.cmake COMPONENT ns3)
  else()
    get_filename_component(NS3_FOLDER ${Ns3_INCLUDE_DIR} DIRECTORY)
    list(APPEND LIBRARY_FOLDERS ${Ns3_LIBRARY_DIR})
  endif()
  install(TARGETS ns3-viaduct LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ns3)
  install(TARGETS viaduct-sim RUNTIME DESTINATION ${libexec} COMPONENT ns3)
  if(TARGET viaduct-mpi)  # of labs on several hosts, which run a protocol
    install(TARGETS viaduct-mpi RUNTIME DESTINATION ${libexec} COMPONENT ns3)
  endif()
  viaduct_find_libraries(ns3-viaduct ${CMAKE_INSTALL_LIBDIR} ${LIBRARY_FOLDERS})
  viaduct_find_libraries(viaduct-sim ${libexec} ${LIBRARY_FOLDERS})
  foreach(example IN LISTS VIADUCT_NS3_EXAMPLES)
    install(TARGETS ${example} DESTINATION ${libexec}/examples COMPONENT ns3)
    viaduct_find_libraries(${example} ${libexec}/examples ${LIBRARY_FOLDERS})
  endforeach()
  foreach(header IN LISTS VIADUCT_NS3_HEADERS)
    get_filename_component(room ${header} DIRECTORY)
    install(FILES ${VIADUCT_ROOT}/ns3/${header} DESTINATION ${headers}/ns3/${room} COMPONENT dev)
  endforeach()
  install(DIRECTORY ${CMAKE_BINARY_DIR}/include/ns3/ DESTINATION ${headers}/ns3 COMPONENT dev)
  set(NS3_MODULE_NAMES ${VIADUCT_NS3_MODULES})
  install(FILES ${VIADUCT_ROOT}/cmake/FindNs3.cmake DESTINATION ${config} COMPONENT dev)
endif()

configure_package_config_file(${VIADUCT_ROOT}/cmake/viaduct-config.cmake.in ${CMAKE_BINARY_DIR}/viaduct-config.cmake
                              INSTALL_DESTINATION ${config} NO_SET_AND_CHECK_MACRO)
install(FILES ${CMAKE_BINARY_DIR}/viaduct-config.cmake ${CMAKE_BINARY_DIR}/viaduct-config-version.cmake
        DESTINATION ${config} COMPONENT dev)

# The same for pkg-config. Paths are relative to the file's own place, or another ns-3's.
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" up "${up}")
set(pc_files viaduct-path)
if(TARGET ns3-viaduct)
  list(APPEND pc_files viaduct-ns3)
  set(pc_ns3 ${NS3_FOLDER})
  set(pc_ns3_libraries ${Ns3_LIBRARY_DIR})
  if(NOT IS_ABSOLUTE ${NS3_FOLDER})
    set(pc_ns3 "\${prefix}/${NS3_FOLDER}")
    set(pc_ns3_libraries "\${prefix}/${NS3_FOLDER}/lib64")
  endif()
  set(pc_modules "")
  foreach(module IN LISTS VIADUCT_NS3_MODULES)
    get_target_property(file Ns3::${module} LOCATION)
    get_filename_component(file ${file} NAME)
    string(APPEND pc_modules " -l:${file}")
  endforeach()
  list(TRANSFORM Ns3_DEFINITIONS PREPEND "-D" OUTPUT_VARIABLE pc_definitions)
  list(JOIN pc_definitions " " pc_definitions)
endif()
foreach(file IN LISTS pc_files)
  configure_file(${VIADUCT_ROOT}/cmake/${file}.pc.in ${CMAKE_BINARY_DIR}/${file}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${file}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endforeach()
