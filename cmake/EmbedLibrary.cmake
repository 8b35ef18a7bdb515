# Writes a C++ file that holds the text of data files, run as a script:
#   cmake -DOUTPUT=embedded.cpp -DROOT=/source -DFILES=a.json|b.json -P EmbedLibrary.cmake
# Text goes into raw string literals of at most 8,000 bytes, well below every compiler's limit. Files must be ASCII.
string(REPLACE "|" ";" paths "${FILES}")
set(table "")
set(texts "")
set(index 0)
foreach(path IN LISTS paths)
  file(READ "${ROOT}/${path}" rest)
  string(LENGTH "${rest}" left)
  set(literal "")
  while(left GREATER 0)
    string(SUBSTRING "${rest}" 0 8000 piece)
    string(APPEND literal "\n    R\"~~(${piece})~~\"")
    if(left GREATER 8000)
      string(SUBSTRING "${rest}" 8000 -1 rest)
      math(EXPR left "${left} - 8000")
    else()
      set(left 0)
    endif()
  endwhile()
  if(literal STREQUAL "")
    set(literal " \"\"")
  endif()
  string(APPEND texts "constexpr char text_${index}[] =${literal};\n")
  string(APPEND table "    {\"${path}\", {text_${index}, sizeof text_${index} - 1}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE "${OUTPUT}.new" "// Made by cmake/EmbedLibrary.cmake from models, hardware_profiles and scenarios; do not edit.
#include \"scenario/embedded.hpp\"

namespace servecast::scenario {

namespace {
${texts}
constexpr EmbeddedFile files[] = {
${table}};
}  // namespace

std::span<const EmbeddedFile> embedded_files() { return files; }

}  // namespace servecast::scenario
")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
