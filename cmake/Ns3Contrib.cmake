# The repository as contrib/viaduct of an ns-3 tree (3.44 and later): the module of ns3/ as ns-3
# builds modules, including the objects of the rooms it uses. The command and viaduct-sim
# are not built here; they come from the repository's own build.
set(VIADUCT_IN_NS3 ON)
set(VIADUCT_ROOT ${CMAKE_CURRENT_SOURCE_DIR})
set(VIADUCT_WITH_TESTS OFF)
set(VIADUCT_FUZZ OFF)
# Objects, not libraries: ns-3 exports whatever a module is linked with, and links the tests with it
# a second time.
set(VIADUCT_ROOM_TYPE OBJECT)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# As the presets do (CompilerSettings.cmake): a third of the time. ns-3's own modules are not touched.
set(CMAKE_UNITY_BUILD ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
# ns-3 makes warnings errors, also those of its own -O3 and of units that stand for several files.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage> -Wno-error)

if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  message(WARNING "viaduct: needs Linux (network namespaces, packet sockets); not built")
  return()
endif()
include(${VIADUCT_ROOT}/cmake/Dependencies.cmake)
include(${VIADUCT_ROOT}/cmake/Rooms.cmake)
add_subdirectory(src)
get_property(room_objects GLOBAL PROPERTY VIADUCT_ROOM_LIBRARIES)
list(TRANSFORM room_objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
get_property(support_objects GLOBAL PROPERTY VIADUCT_TEST_SUPPORT)
list(FILTER support_objects INCLUDE REGEX "^viaduct_(base_wire|port)_support$")
list(TRANSFORM support_objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
# What the module's guests start with, beside the module's library, where it looks for them.
enable_language(C)  # ns-3 itself is C++ alone
add_subdirectory(src/guest/inside)
add_subdirectory(src/guest/inside/random)
set_target_properties(viaduct-guest viaduct-random PROPERTIES
                      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
# By path, not by target, for the same reason as the objects.
get_target_property(fmt_library fmt::fmt LOCATION)

viaduct_module_files(module ${VIADUCT_ROOT})
file(GLOB examples_sources CONFIGURE_DEPENDS RELATIVE ${VIADUCT_ROOT} ns3/examples/*.cc)
list(FILTER examples_sources EXCLUDE REGEX "(flood|request)-routing")  # libraries, for viaduct-sim
list(FILTER module_test_sources EXCLUDE REGEX "main\\.cc$")  # ns-3's test-runner has the main()

set(module_libraries "")
foreach(module IN LISTS VIADUCT_NS3_MODULES)
  list(APPEND module_libraries ${lib${module}})
endforeach()
foreach(module IN LISTS VIADUCT_NS3_PROTOCOLS)
  if(${module} IN_LIST ns3-all-enabled-modules)
    list(APPEND module_libraries ${lib${module}})
  endif()
endforeach()

build_lib(
  LIBNAME viaduct
  SOURCE_FILES ${module_sources} ${room_objects}
  HEADER_FILES ${module_headers}
  LIBRARIES_TO_LINK ${module_libraries} ${NL_LINK_LIBRARIES} ${GENL_LINK_LIBRARIES} ${PCAP_LINK_LIBRARIES} ${URING_LINK_LIBRARIES} ${BPF_LINK_LIBRARIES} ${XDP_LINK_LIBRARIES} ${fmt_library}
  TEST_SOURCES ${module_test_sources}
)
viaduct_module_units(viaduct)
if(TARGET viaduct-test)
  set_target_properties(viaduct-test PROPERTIES UNITY_BUILD OFF)  # suites repeat names
  target_sources(viaduct-test PRIVATE ${support_objects})
endif()
# Headers by their paths here, ns3/ROOM/NAME.h, which ns-3 does not install: it has them as ns3/NAME.h only.
foreach(header IN LISTS module_headers)
  get_filename_component(room ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${room})
endforeach()
target_include_directories(viaduct PUBLIC $<BUILD_INTERFACE:${VIADUCT_ROOT}> $<BUILD_INTERFACE:${VIADUCT_ROOT}/src>
                           PRIVATE ${NL_INCLUDE_DIRS})

add_dependencies(viaduct viaduct-guest viaduct-random)

# ns-3 looks for examples in examples/, which here holds scenario files.
if(ENABLE_EXAMPLES)
  set(BLIB_LIBNAME viaduct)
  foreach(example IN LISTS examples_sources)
    get_filename_component(name ${example} NAME_WE)
    build_lib_example(NAME ${name} SOURCE_FILES ${example}
                      LIBRARIES_TO_LINK viaduct ${module_libraries})
  endforeach()
endif()
