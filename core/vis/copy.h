// Copy loops between two ends that are both memory of this process.
#pragma once

#include <cstddef>

#include "vis/nest.h"
#include "vis/side.h"

namespace causeway {

// `count` elements of `elem` bytes, by strides.
void copy_rows(char* dst, ptrdiff_t dst_stride, const char* src, ptrdiff_t src_stride, size_t count,
               size_t elem);

// A folded nest whose ends are biased by the distances given.
void copy_nest(const Nest& nest, uintptr_t dst_bias, uintptr_t src_bias);

// Two lists that cover the same number of bytes, cut anywhere; what exceeds the shorter is left.
void copy_lists(const Side& dst, const Side& src);

}  // namespace causeway
