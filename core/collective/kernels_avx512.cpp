// The reduction kernels for processors with AVX-512; see kernel_body.h.
#include "collective/kernels.h"

#define CAUSEWAY_KERNELS kAvx512Kernels
#include "collective/kernel_body.h"
