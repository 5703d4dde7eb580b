# Turns files into a C++ table: cmake -D ROOT=dir -D FILES="a;b" -D OUTPUT=x.cc -P embed.cmake
set(text "// Made by coordinator/web/embed.cmake from the files it names.\n")
string(APPEND text "#include \"coordinator/web/asset.h\"\n\nnamespace headsplit::coordinator {\nnamespace {\n\n")
set(table "")
set(index 0)
list(SORT FILES)
foreach(path IN LISTS FILES)
  file(READ ${ROOT}/${path} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND text "// ${path}\nconstexpr unsigned char kFile${index}[] = {${bytes}};\n")
  string(APPEND table "      {\"${path}\", text_of(kFile${index})},\n")
  math(EXPR index "${index} + 1")
endforeach()
string(APPEND text "
template <std::size_t kSize>
std::string_view text_of(const unsigned char (&bytes)[kSize]) {
  return {reinterpret_cast<const char*>(bytes), kSize};
}

}  // namespace

std::span<const Asset> assets() {
  static const Asset all[] = {
${table}  };
  return all;
}

}  // namespace headsplit::coordinator
")
file(WRITE ${OUTPUT} "${text}")
