// What a client of the tools includes, alone or after gasnetex.h; the same tests in each mode.
#pragma once
#if defined(GASNET_SEQ) || defined(GASNET_PARSYNC) || defined(GASNET_PAR)
#include <gasnetex.h>
#endif
#include <gasnet_tools.h>

#ifndef _INCLUDED_GASNET_TOOLS_H
#error "the include guard has the name that clients test"
#endif
#if defined(GASNETT_THREAD_SAFE) + defined(GASNETT_THREAD_SINGLE) != 1
#error "one of the modes"
#endif
