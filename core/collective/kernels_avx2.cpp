// The reduction kernels for processors with AVX2; see kernel_body.h.
#include "collective/kernels.h"

#define CAUSEWAY_KERNELS kAvx2Kernels
#include "collective/kernel_body.h"
