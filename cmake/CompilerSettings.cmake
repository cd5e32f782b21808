# Warnings, sanitizers and the compiler cache, the same for every target.
add_compile_options(-Wall -Wextra -Werror)

set(VIADUCT_SANITIZE "" CACHE STRING "address,undefined or thread; empty for none")
if(VIADUCT_SANITIZE)
  add_compile_options(-fsanitize=${VIADUCT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${VIADUCT_SANITIZE})
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()
