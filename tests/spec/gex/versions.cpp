// What a program asks the preprocessor: versions, and what is native.
#include "../harness.h"

// Catches a header that claims another specification than it implements.
SPEC_CASE(versions, of_the_specifications) {
  CHECK_EQ(GEX_SPEC_VERSION_MAJOR, 0);
  CHECK_EQ(GEX_SPEC_VERSION_MINOR, 18);
  CHECK_EQ(GASNET_SPEC_VERSION_MAJOR, 1);
  CHECK_EQ(GASNET_SPEC_VERSION_MINOR, 8);
}

// Releases are dated: programs compare them with #if.
SPEC_CASE(versions, of_the_release) {
#if GASNET_RELEASE_VERSION_MAJOR < 2023
  CHECK(false);
#endif
  CHECK(GASNET_RELEASE_VERSION_MINOR >= 0);
  CHECK(GASNET_RELEASE_VERSION_PATCH >= 0);
}

// Catches a required capability that is not announced, and one announced with a value that a
// program's #if would misread.
SPEC_CASE(versions, capabilities) {
  CHECK_EQ(GASNET_SUPPORTS_TI_SRCRANK, 1);
  CHECK_EQ(GASNET_SUPPORTS_TI_EP, 1);
#ifdef GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM
  CHECK_EQ(GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM, 1);
#endif
#ifdef GASNET_NATIVE_NP_ALLOC_REP_MEDIUM
  CHECK_EQ(GASNET_NATIVE_NP_ALLOC_REP_MEDIUM, 1);
#endif
#ifdef GASNET_NATIVE_NP_ALLOC_REQ_LONG
  CHECK_EQ(GASNET_NATIVE_NP_ALLOC_REQ_LONG, 1);
#endif
#ifdef GASNET_NATIVE_NP_ALLOC_REP_LONG
  CHECK_EQ(GASNET_NATIVE_NP_ALLOC_REP_LONG, 1);
#endif
}

// One configuration of segments: FAST, unless the program was built for another.
SPEC_CASE(versions, segments) {
#if defined(GASNET_SEGMENT_FAST) + defined(GASNET_SEGMENT_LARGE) + \
        defined(GASNET_SEGMENT_EVERYTHING) !=                      \
    1
  CHECK(false);
#endif
  CHECK(GASNET_ALIGNED_SEGMENTS == 0 || GASNET_ALIGNED_SEGMENTS == 1);
  CHECK(GASNET_MAXEPS >= 1);
}

// The tools' version belongs to gasnet_tools.h, and a program may ask for it without.
SPEC_CASE(versions, of_the_tools) {
  CHECK_EQ(GASNETT_SPEC_VERSION_MAJOR, 1);
  CHECK_EQ(GASNETT_SPEC_VERSION_MINOR, 20);
}
