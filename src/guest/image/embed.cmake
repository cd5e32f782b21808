# Compiles kernel.config and patches/ into the program, so that the program works without its source
# tree: writes kernel_build_inputs.cc into the build folder, and sets VIADUCT_KERNEL_INPUTS to the
# path of that file.
set(folder ${CMAKE_CURRENT_LIST_DIR})
file(GLOB patches CONFIGURE_DEPENDS ${folder}/patches/*.patch)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/kernel.config ${patches})
file(READ ${folder}/kernel.config CONFIG_TEXT)
set(PATCH_ITEMS "")
foreach(patch IN LISTS patches)
  get_filename_component(name ${patch} NAME)
  file(READ ${patch} text)
  string(APPEND PATCH_ITEMS "    {\"${name}\", R\"=-=(${text})=-=\"},\n")
endforeach()
set(VIADUCT_KERNEL_INPUTS ${CMAKE_CURRENT_BINARY_DIR}/kernel_build_inputs.cc)
configure_file(${folder}/build_inputs.cc.in ${VIADUCT_KERNEL_INPUTS} @ONLY)
