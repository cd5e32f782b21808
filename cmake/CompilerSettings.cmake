# Warnings, sanitizers, fuzzing and the compiler cache, the same for every target.
add_compile_options(-Wall -Wextra)
# In the presets, which developers and CI use: other compilers and newer releases of ns-3 warn of more.
option(VIADUCT_WARNINGS_ARE_ERRORS "Stop at the first warning" OFF)
if(VIADUCT_WARNINGS_ARE_ERRORS)
  add_compile_options(-Werror)
endif()

# CMake's default for Release is -O3, of which GCC 12 gives dozens of false warnings (-Wrestrict, GCC bug
# 105651, and its kin). The presets, by which everything is tested and measured, have -O2.
if(CMAKE_CXX_FLAGS_RELEASE STREQUAL "-O3 -DNDEBUG")
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
endif()

set(VIADUCT_SANITIZE "" CACHE STRING "address,undefined or thread; empty for none")
if(VIADUCT_SANITIZE)
  add_compile_options(-fsanitize=${VIADUCT_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${VIADUCT_SANITIZE})
  # GCC's -Wmaybe-uninitialized and its kin are unreliable on instrumented code.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
  if(VIADUCT_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)  # "atomic_thread_fence is not supported": in library headers
  endif()
endif()

# Tests are compiled for half the price: most of them run once. After the build type's own option this one holds.
set(VIADUCT_TEST_OPTIONS $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
# From GCC 13 on it warns at -O1 of each std::variant that has a string.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  list(APPEND VIADUCT_TEST_OPTIONS -Wno-maybe-uninitialized)
endif()

# All presets but debug compile a room in a few translation units (CMakePresets.json): a fifth of the time
# of a first build. So a name in an anonymous namespace is given once in a room; a file that cannot share
# a unit is excluded in src/CMakeLists.txt. The preset debug compiles each file alone, and clang-tidy
# reads each alone (setup/lint), which proves that it includes what it uses.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)  # of classes in headers: here every file is one
endif()

option(VIADUCT_FUZZ "Build the fuzz targets (clang only)" OFF)
if(VIADUCT_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "VIADUCT_FUZZ needs clang: use the preset fuzz, "
                        "or -DCMAKE_CXX_COMPILER=clang++-14")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# What __FILE__ gives is relative to the project, wherever it lies: no path of the machine that built is
# in a program, and a second clone finds what the first one compiled in the cache.
add_compile_options(-fmacro-prefix-map=${VIADUCT_ROOT}/=)
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

# The ns-3 libraries carry some hundred megabytes of debugging information to every link.
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()
