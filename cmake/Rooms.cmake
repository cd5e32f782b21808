# viaduct_room(NAME DEPENDS lib...): the folder src/NAME, with the sub-rooms that have no CMakeLists.txt
# of their own, as the static library viaduct_NAME; its
# *_test.cc files as the test program NAME_test (no root, no network), its *_root_test.cc files as
# NAME_root_test (real namespaces, root), and with VIADUCT_FUZZ each x_fuzz.cc as the libFuzzer
# target x_fuzz. *_main.cc files are left to the room's own rules. A room links exactly the rooms it
# may include (docs/architecture.md has the order; setup/check-layers enforces it on the includes).
if(NOT VIADUCT_ROOM_TYPE)
  set(VIADUCT_ROOM_TYPE STATIC)
endif()

if(NOT VIADUCT_IN_NS3)
  # For builds that need no more than these.
  add_custom_target(unit_tests)
  add_custom_target(thread_tests)  # of the rooms that start threads: what ThreadSanitizer is for
  add_custom_target(fuzz_targets)
endif()

function(viaduct_room name)
  cmake_parse_arguments(ROOM "" "" "DEPENDS" ${ARGN})
  set(dir ${CMAKE_CURRENT_SOURCE_DIR}/${name})
  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.cc)
  file(GLOB sub_rooms LIST_DIRECTORIES true CONFIGURE_DEPENDS ${dir}/*)
  foreach(sub_room IN LISTS sub_rooms)
    if(IS_DIRECTORY ${sub_room} AND NOT EXISTS ${sub_room}/CMakeLists.txt)
      file(GLOB sub_room_sources CONFIGURE_DEPENDS ${sub_room}/*.cc)
      list(APPEND sources ${sub_room_sources})
    endif()
  endforeach()
  set(tests ${sources})
  set(root_tests ${sources})
  set(fuzz_targets ${sources})
  list(FILTER root_tests INCLUDE REGEX "_root_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER tests EXCLUDE REGEX "_root_test\\.cc$")
  list(FILTER fuzz_targets INCLUDE REGEX "_fuzz\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz|main)\\.cc$")
  if(sources)
    add_library(viaduct_${name} ${VIADUCT_ROOM_TYPE} ${sources})
    target_include_directories(viaduct_${name} PUBLIC $<BUILD_INTERFACE:${VIADUCT_ROOT}/src>)
    target_link_libraries(viaduct_${name} PUBLIC ${ROOM_DEPENDS})
    target_compile_features(viaduct_${name} PUBLIC cxx_std_20)
    set_target_properties(viaduct_${name} PROPERTIES EXPORT_NAME ${name})
  else()
    add_library(viaduct_${name} INTERFACE)
    target_include_directories(viaduct_${name} INTERFACE ${VIADUCT_ROOT}/src)
    target_link_libraries(viaduct_${name} INTERFACE ${ROOM_DEPENDS})
  endif()
  if(VIADUCT_WITH_TESTS)
    viaduct_gtest(${name}_test viaduct_${name} "${tests}")
    if(tests)
      add_dependencies(unit_tests ${name}_test)
    endif()
    viaduct_gtest(${name}_root_test viaduct_${name} "${root_tests}")
  endif()
  if(VIADUCT_FUZZ)
    foreach(file IN LISTS fuzz_targets)
      get_filename_component(target ${file} NAME_WE)
      add_executable(${target} ${file})
      target_link_libraries(${target} PRIVATE viaduct_${name})
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
      add_dependencies(fuzz_targets ${target})
    endforeach()
  endif()
endfunction()

# viaduct_gtest(PROGRAM LIBRARY SOURCES): a GoogleTest program, if there are any sources.
function(viaduct_gtest program library sources)
  if(sources)
    add_executable(${program} ${sources})
    target_link_libraries(${program} PRIVATE ${library} GTest::gmock GTest::gtest_main)
    target_compile_options(${program} PRIVATE ${VIADUCT_TEST_OPTIONS})
    add_test(NAME ${program} COMMAND ${program})
  endif()
endfunction()

# viaduct_module_units(TARGET): how the ns-3 module compiles in a few translation units.
macro(viaduct_module_units target)
  # NS_LOG_COMPONENT_DEFINE names the same object in every file: in a shared unit each gets its own.
  set_target_properties(${target} PROPERTIES UNITY_BUILD_UNIQUE_ID VIADUCT_UNITY_ID
                        UNITY_BUILD_CODE_BEFORE_INCLUDE "#undef g_log\n#define g_log VIADUCT_UNITY_ID")
  # linux/tcp.h and netinet/tcp.h exclude each other; linux/if_packet.h defines what an enum of ns-3's has.
  foreach(file kernel/kernel-state kernel/kernel-device-bridge device/interface-port)
    set_source_files_properties(${VIADUCT_ROOT}/ns3/model/${file}.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endmacro()
