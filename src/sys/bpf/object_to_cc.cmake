# cmake [-DOBJECT=FILE] -DOUTPUT=FILE.cc -DNAME=NAME -P: writes a C++ file that contains the object
# file as kNAMEProgram (sys/bpf/object.h); without an object file, kNAMEProgram is empty.
set(array "")
set(program "{nullptr, 0}")
if(DEFINED OBJECT)
  file(READ ${OBJECT} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(................................................................................)"
         "\\1\n" bytes "${bytes}")
  set(array "alignas(8) static const unsigned char k${NAME}Bytes[] = {\n${bytes}};\n")
  set(program "{k${NAME}Bytes, sizeof k${NAME}Bytes}")
endif()
file(WRITE ${OUTPUT} "#include \"sys/bpf/object.h\"

namespace viaduct::bpf {
${array}extern const EmbeddedProgram k${NAME}Program;
const EmbeddedProgram k${NAME}Program = ${program};
}  // namespace viaduct::bpf
")
