# cmake -DOBJECT=FILE -DOUTPUT=FILE.cc -P: the object file as the array of bpf/program.h.
file(READ ${OBJECT} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)"
       "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"bpf/program.h\"

namespace viaduct::bpf {
alignas(8) const unsigned char k${NAME}Program[] = {
${bytes}};
const size_t k${NAME}ProgramSize = sizeof k${NAME}Program;
}  // namespace viaduct::bpf
")
