# Finds ns-3 without its own CMake configuration (the wheel's and Debian's name paths that do not
# exist outside the machine they were built on).
#
# Input   NS3_DIR or the environment's VIADUCT_NS3: one of
#           - the development kit (PyPI wheel unpacked: ns3/include, ns3/lib64)
#           - an installed ns-3 (PREFIX with include/ns3 and lib or lib64)
#           - an ns-3 build tree (the source directory after ./ns3 build; or its build/ directory)
#         Default: the kit that setup/ns3-kit put into the cache.
# Output  Ns3_FOUND, Ns3_VERSION, Ns3_KIND, target Ns3::MODULE for every module found.
set(NS3_DIR "$ENV{VIADUCT_NS3}" CACHE PATH "development kit, installed ns-3, or ns-3 build tree")
if(NS3_DIR)
  set(_ns3_dir ${NS3_DIR})
else()
  execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../setup/ns3-kit --path
                  OUTPUT_VARIABLE _ns3_dir OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()

find_path(Ns3_INCLUDE_DIR ns3/simulator.h NO_DEFAULT_PATH NO_CACHE
          PATHS ${_ns3_dir}/ns3 ${_ns3_dir} ${_ns3_dir}/build PATH_SUFFIXES include)
if(Ns3_INCLUDE_DIR)
  get_filename_component(_ns3_root ${Ns3_INCLUDE_DIR} DIRECTORY)
  file(GLOB _ns3_libs ${_ns3_root}/lib64/libns3*.so ${_ns3_root}/lib/libns3*.so
       ${_ns3_root}/lib/*/libns3*.so)
endif()

include(FindPackageHandleStandardArgs)
foreach(_lib IN LISTS _ns3_libs)
  # libns3.44-olsr.so, libns3.48-olsr-default.so, libns3-dev-olsr-debug.so
  get_filename_component(_name ${_lib} NAME)
  if(_name MATCHES "^libns3(\\.([0-9.]+)|[.-]?(3?-?dev))-(.+)\\.so$")
    set(_module ${CMAKE_MATCH_4})
    set(_version ${CMAKE_MATCH_2})
    string(REGEX REPLACE "-(debug|default|release|optimized|minsizerel|relwithdebinfo)$" ""
           _module ${_module})
    if(_version)
      set(Ns3_VERSION 3.${_version})
    else()
      set(Ns3_VERSION 3-dev)
    endif()
    if(NOT TARGET Ns3::${_module})
      add_library(Ns3::${_module} SHARED IMPORTED)
      set_target_properties(Ns3::${_module} PROPERTIES
        IMPORTED_LOCATION ${_lib} INTERFACE_INCLUDE_DIRECTORIES ${Ns3_INCLUDE_DIR}
        INTERFACE_COMPILE_DEFINITIONS "NS3_LOG_ENABLE;NS3_ASSERT_ENABLE;__LINUX__")
    endif()
  endif()
endforeach()
set(Ns3_LIBRARY_DIR "")
if(_ns3_libs)
  list(GET _ns3_libs 0 _first)
  get_filename_component(Ns3_LIBRARY_DIR ${_first} DIRECTORY)
endif()
find_package_handle_standard_args(Ns3 REQUIRED_VARS Ns3_INCLUDE_DIR Ns3_LIBRARY_DIR
                                  VERSION_VAR Ns3_VERSION)
