/* Must not compile: no threading mode is defined. */
#include <gasnetex.h>
int none;
