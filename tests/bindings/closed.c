/* Loads the library, starts GASPI in it, ends it, closes the library, and ends: with what it has
 * said on stdout, and with its own status. Usage: closed LIBRARY Catches: a process that crashes at
 * its end, because something registered for that is in a library that is not there any more. */
#include <dlfcn.h>
#include <stdio.h>

typedef int init_fn(unsigned long);
typedef int term_fn(unsigned long);

int main(int argc, char** argv) {
  void* const library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    printf("closed: %s\n", dlerror());
    return 1;
  }
  init_fn* const init = (init_fn*)dlsym(library, "gaspi_proc_init");
  term_fn* const term = (term_fn*)dlsym(library, "gaspi_proc_term");
  if (init == NULL || term == NULL || init(~0ul) != 0 || term(~0ul) != 0) {
    printf("closed: GASPI does not start or end\n");
    return 1;
  }
  if (dlclose(library) != 0) {
    printf("closed: %s\n", dlerror());
    return 1;
  }
  printf("closed: well\n");
  return 0;
}
