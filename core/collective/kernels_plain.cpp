// The reduction kernels; see kernel_body.h.
#include "collective/kernels.h"

#define CAUSEWAY_KERNELS kPlainKernels
#include "collective/kernel_body.h"
