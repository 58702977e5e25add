// The cases' client starts after earlier_client.cpp's.
#include <cstdlib>

#include "../harness.h"

void start_earlier_client(int* argc, char*** argv);

namespace spec {

void start_client(Job& j, int* argc, char*** argv) {
  start_earlier_client(argc, argv);
  if (gex_Client_Init(&j.client, &j.ep, &j.tm, "SPEC_GEX", argc, argv, 0) != GASNET_OK)
    std::exit(1);
}

}  // namespace spec
