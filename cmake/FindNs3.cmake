# Finds ns-3 without its own CMake configuration (the wheel's and Debian's name paths that do not
# exist outside the machine they were built on).
#
# Input   NS3_DIR or the environment's VIADUCT_NS3: one of
#           - the development kit (PyPI wheel unpacked: ns3/include, ns3/lib64)
#           - an installed ns-3 (PREFIX with include/ns3 and lib or lib64)
#           - an ns-3 build tree (the source directory after ./ns3 build; or its build/ directory)
#         Default: the kit that setup/ns3-kit put into the cache.
# Output  Ns3_FOUND, Ns3_VERSION ("3.44", or "3-dev"), Ns3_LIBRARY_DIR, Ns3_CXX_STANDARD (what its
#         own modules are compiled as), Ns3_DEFINITIONS (asserts and logging as its libraries have
#         them), Ns3_BUILD (one line that says it), Ns3_IS_KIT (the development kit, not an
#         installation of the user's), target Ns3::MODULE for every module found.
set(NS3_DIR "$ENV{VIADUCT_NS3}" CACHE PATH "development kit, installed ns-3, or ns-3 build tree")
if(NS3_DIR)
  get_filename_component(_ns3_dir ${NS3_DIR} ABSOLUTE BASE_DIR ${CMAKE_SOURCE_DIR})
else()
  execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../setup/ns3-kit --path
                  OUTPUT_VARIABLE _ns3_dir OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()

find_path(Ns3_INCLUDE_DIR ns3/simulator.h NO_DEFAULT_PATH NO_CACHE
          PATHS ${_ns3_dir}/ns3 ${_ns3_dir} ${_ns3_dir}/build PATH_SUFFIXES include)
set(_ns3_libs "")
if(Ns3_INCLUDE_DIR)
  string(REGEX REPLACE "/$" "" Ns3_INCLUDE_DIR ${Ns3_INCLUDE_DIR})
  get_filename_component(_ns3_root ${Ns3_INCLUDE_DIR} DIRECTORY)
  file(GLOB _ns3_libs ${_ns3_root}/lib64/libns3*.so ${_ns3_root}/lib/libns3*.so
       ${_ns3_root}/lib/*/libns3*.so)
endif()

# Each library's file name as _ns3_file_MODULE: libns3.44-olsr.so, libns3.48-olsr-default.so,
# libns3-dev-olsr-debug.so.
set(_ns3_modules "")
foreach(_lib IN LISTS _ns3_libs)
  get_filename_component(_name ${_lib} NAME)
  if(_name MATCHES "^libns3(\\.([0-9.]+)|[.-]?3?-?dev)-(.+)\\.so$")
    set(_module ${CMAKE_MATCH_3})
    set(_number "${CMAKE_MATCH_2}")
    string(REGEX REPLACE "-(debug|default|release|optimized|minsizerel|relwithdebinfo)$" ""
           _module ${_module})
    if(_module STREQUAL "core")
      get_filename_component(Ns3_LIBRARY_DIR ${_lib} DIRECTORY)
      if(_number STREQUAL "")
        set(Ns3_VERSION 3-dev)
      else()
        set(Ns3_VERSION 3.${_number})
      endif()
    endif()
    list(APPEND _ns3_modules ${_module})
    set(_ns3_file_${_module} ${_lib})
  endif()
endforeach()

set(Ns3_IS_KIT OFF)
if(Ns3_INCLUDE_DIR AND EXISTS ${_ns3_dir}/.complete)  # setup/ns3-kit's
  set(Ns3_IS_KIT ON)
endif()

# The headers must be compiled with asserts and logging as the libraries were, and nothing that is
# installed says how. The network library does: an assert leaves its text in it, logging a reference.
set(Ns3_DEFINITIONS __LINUX__)
set(_ns3_asserts off)
set(_ns3_logging off)
if(_ns3_file_network)
  file(STRINGS ${_ns3_file_network} _found LIMIT_COUNT 1 REGEX "NS_ASSERT failed, cond=")
  if(_found)
    set(_ns3_asserts on)
    list(APPEND Ns3_DEFINITIONS NS3_ASSERT_ENABLE)
  endif()
  file(STRINGS ${_ns3_file_network} _found LIMIT_COUNT 1 REGEX "LogComponent9IsEnabled")
  if(_found)
    set(_ns3_logging on)
    list(APPEND Ns3_DEFINITIONS NS3_LOG_ENABLE)
  endif()
endif()
set(Ns3_BUILD "ns-3 ${Ns3_VERSION}, asserts ${_ns3_asserts}, logging ${_ns3_logging}")

set(Ns3_CXX_STANDARD 20)
if(Ns3_VERSION STREQUAL "3-dev" OR Ns3_VERSION VERSION_GREATER_EQUAL 3.46)
  set(Ns3_CXX_STANDARD 23)
endif()

foreach(_module IN LISTS _ns3_modules)
  if(NOT TARGET Ns3::${_module})
    add_library(Ns3::${_module} SHARED IMPORTED)
    set_target_properties(Ns3::${_module} PROPERTIES
      IMPORTED_LOCATION ${_ns3_file_${_module}}
      INTERFACE_INCLUDE_DIRECTORIES ${Ns3_INCLUDE_DIR}
      INTERFACE_COMPILE_DEFINITIONS "${Ns3_DEFINITIONS}")
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Ns3
  REQUIRED_VARS Ns3_LIBRARY_DIR Ns3_INCLUDE_DIR VERSION_VAR Ns3_VERSION
  REASON_FAILURE_MESSAGE "no ns-3 headers and libraries in '${_ns3_dir}': run setup/ns3-kit, or name \
a kit, an installed ns-3 or a built ns-3 tree with -DNS3_DIR=")
