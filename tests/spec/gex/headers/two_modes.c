/* Must not compile: two threading modes are defined. */
#define GASNET_SEQ 1
#define GASNET_PAR 1
#include <gasnetex.h>
int two;
