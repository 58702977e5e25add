// abi_dump conduit|memkind|collective: prints the layout this tree's headers have.
#include <cstring>

#include "dump.h"

int main(int argc, char** argv) {
  using namespace causeway::abi;
  const char* which = argc == 2 ? argv[1] : "";
  if (std::strcmp(which, "conduit") == 0) {
    dump_plugin();
    dump_conduit();
  } else if (std::strcmp(which, "memkind") == 0) {
    dump_memkind();
  } else if (std::strcmp(which, "collective") == 0) {
    dump_collective();
  } else {
    std::fprintf(stderr, "usage: abi_dump conduit|memkind|collective\n");
    return 2;
  }
  return 0;
}
