// causeway_embed OUT.cpp A.yaml ...: each document, packed, becomes `const char k_a_tree[]`, which
// core/config/embedded.h declares.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "pack.h"

namespace causeway {
namespace {

// False, with the reason printed: it is no sound YAML.
bool embed(const std::filesystem::path& file, std::ofstream& out) {
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  Problems problems;
  std::optional<Node> root = parse_document(text, file.filename(), problems);
  if (!in || !root || !problems.empty()) {
    std::fprintf(stderr, "%s: cannot be read: %s\n", file.c_str(), problems.text(20).c_str());
    return false;
  }
  // No message names a place in the schema.
  if (file.stem() == "schema") set_origin(*root, {});
  std::string packed;
  pack_document(*root, packed);
  out << "\nconst char k_" << file.stem().string() << "_tree[] =";
  constexpr size_t kPiece = 8000;  // compilers bound the length of one literal
  for (size_t at = 0; at < packed.size(); at += kPiece)
    out << "\n    R\"~cwy~(" << packed.substr(at, kPiece) << ")~cwy~\"";
  out << ";\n";
  return true;
}

}  // namespace
}  // namespace causeway

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::ofstream out(argv[1]);
  out << "// Generated from YAML.\n#include \"config/embedded.h\"\n\nnamespace causeway {\n";
  for (int i = 2; i < argc; ++i)
    if (!causeway::embed(argv[i], out)) return 1;
  out << "\n}  // namespace causeway\n";
  return out.flush() ? 0 : 1;
}
