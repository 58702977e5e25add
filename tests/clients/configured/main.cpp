// The same program in C++, over the same library.
#include "main.c"
