// Kinds, segments and endpoints: what the calls answer, and what they refuse.
#include <cstring>
#include <vector>

#include "devices.h"

using spec::job;

namespace {

gex_MK_Create_args_t good() {
  return mk::access().args(0);
}

int create(const gex_MK_Create_args_t& args, gex_Flags_t flags = 0) {
  gex_MK_t kind = GEX_MK_INVALID;
  gex_System_SetVerboseErrors(0);
  const int answer = gex_MK_Create(&kind, job().client, &args, flags);
  gex_System_SetVerboseErrors(1);
  if (answer == GASNET_OK) {
    gex_MK_Destroy(kind, 0);
  } else {
    CHECK_EQ(kind, GEX_MK_INVALID);  // untouched
  }
  return answer;
}

int segment(void* addr, uintptr_t length, gex_MK_t kind) {
  gex_Segment_t s = GEX_SEGMENT_INVALID;
  gex_System_SetVerboseErrors(0);
  const int answer = gex_Segment_Create(&s, job().client, addr, length, kind, 0);
  gex_System_SetVerboseErrors(1);
  if (answer == GASNET_OK) {
    gex_Segment_Destroy(s, 0);
  } else {
    CHECK_EQ(s, GEX_SEGMENT_INVALID);
  }
  return answer;
}

}  // namespace

// Which device classes are announced depends on what is installed (tests/install/quiet.sh).
#if !GASNET_HAVE_MK_CLASS_HOST ||                                                       \
    defined(GASNET_HAVE_MK_CLASS_MULTIPLE) !=                                           \
        (defined(GASNET_HAVE_MK_CLASS_CUDA_UVA) || defined(GASNET_HAVE_MK_CLASS_HIP) || \
         defined(GASNET_HAVE_MK_CLASS_ZE))
#error "MULTIPLE means that a class besides the host is announced"
#endif

// Catches arguments that are taken for something else, and answers without a code.
SPEC_CASE(mk_objects, create_arguments) {
  CHECK_EQ(create(good()), GASNET_OK);
  gex_MK_Create_args_t args = good();
  // A bit that no call has; one of another call is ignored.
  CHECK_EQ(create(args, gex_Flags_t{1} << 31), GASNET_ERR_BAD_ARG);
  CHECK_EQ(create(args, GEX_FLAG_IMMEDIATE), GASNET_OK);
  args.gex_flags = 1;
  CHECK_EQ(create(args), GASNET_ERR_BAD_ARG);
  std::memset(&args, 0, sizeof args);
  args.gex_class = GEX_MK_CLASS_HOST;
  CHECK_EQ(create(args), GASNET_ERR_BAD_ARG);
  const int unknown = 33;
  std::memcpy(&args.gex_class, &unknown, sizeof unknown);
  CHECK_EQ(create(args), GASNET_ERR_BAD_ARG);
  for (const int device : {-1, 1000}) {
    args = good();
    if (args.gex_class == GEX_MK_CLASS_CUDA_UVA) {
      args.gex_args.gex_class_cuda_uva.gex_CUdevice = device;
    } else if (args.gex_class == GEX_MK_CLASS_HIP) {
      args.gex_args.gex_class_hip.gex_hipDevice = device;
    } else {
      if (device == -1) {
        args.gex_args.gex_class_ze.gex_zeContext = nullptr;
      } else {
        args.gex_args.gex_class_ze.gex_zeMemoryOrdinal = 1000;
      }
    }
    CHECK_EQ(create(args), GASNET_ERR_BAD_ARG);
  }
  args = good();
  args.gex_class = CWY_MK_CLASS_PLUGIN;
  args.gex_args.cwy_class_plugin = {nullptr, 0, nullptr, 0};
  CHECK_EQ(create(args), GASNET_ERR_BAD_ARG);
  args.gex_args.cwy_class_plugin = {"nosuch", 0, nullptr, 0};
  CHECK_EQ(create(args), GASNET_ERR_RESOURCE);
  gex_System_SetVerboseErrors(0);
  gex_MK_t kind = GEX_MK_INVALID;
  CHECK_EQ(gex_MK_Create(nullptr, job().client, &args, 0), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gex_MK_Create(&kind, GEX_CLIENT_INVALID, &args, 0), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gex_MK_Create(&kind, job().client, nullptr, 0), GASNET_ERR_BAD_ARG);
  gex_System_SetVerboseErrors(1);
}

SPEC_CASE(mk_objects, segment_arguments) {
  mk::Access& device = mk::access();
  gex_MK_t kind = GEX_MK_INVALID;
  const gex_MK_Create_args_t args = good();
  CHECK_EQ(gex_MK_Create(&kind, job().client, &args, 0), GASNET_OK);
  CHECK_EQ(segment(nullptr, 0, kind), GASNET_ERR_BAD_ARG);
  CHECK_EQ(segment(nullptr, 1, kind), GASNET_OK);
  CHECK_EQ(segment(nullptr, 4096, GEX_MK_INVALID), GASNET_ERR_BAD_ARG);
  // Host memory is not a device's, nor is what lies beyond an allocation, nor what was freed.
  std::vector<char> host(4096);
  CHECK_EQ(segment(host.data(), host.size(), kind), GASNET_ERR_BAD_ARG);
  void* const memory = device.alloc(0, 1 << 16);
  CHECK_EQ(segment(memory, 1 << 16, kind), GASNET_OK);
  CHECK_EQ(segment(static_cast<char*>(memory) + 100, 1000, kind), GASNET_OK);
  CHECK_EQ(segment(memory, size_t{1} << 40, kind), GASNET_ERR_BAD_ARG);
  device.free(0, memory);
  CHECK_EQ(segment(memory, 1 << 16, kind), GASNET_ERR_BAD_ARG);
  // Another device's.
  if (device.devices() > 1) {
    void* const other = device.alloc(1, 4096);
    CHECK_EQ(segment(other, 4096, kind), GASNET_ERR_BAD_ARG);
    device.free(1, other);
  }
  CHECK_EQ(segment(nullptr, uintptr_t{1} << 50, kind), GASNET_ERR_RESOURCE);
  gex_MK_Destroy(kind, 0);
}

// Device memory and the primordial endpoint exclude each other.
SPEC_CASE(mk_objects, primordial_endpoint, 1, ::spec::Phase::unattached) {
  gex_MK_t kind = GEX_MK_INVALID;
  const gex_MK_Create_args_t args = good();
  CHECK_EQ(gex_MK_Create(&kind, job().client, &args, 0), GASNET_OK);
  gex_Segment_t s = GEX_SEGMENT_INVALID;
  CHECK_EQ(gex_Segment_Create(&s, job().client, nullptr, 4096, kind, 0), GASNET_OK);
  gex_System_SetVerboseErrors(0);
  CHECK_EQ(gex_EP_BindSegment(job().ep, s, 0), GASNET_ERR_BAD_ARG);
  gex_System_SetVerboseErrors(1);
  CHECK_EQ(gex_EP_QuerySegment(job().ep), GEX_SEGMENT_INVALID);
  gex_Segment_Destroy(s, 0);
  gex_MK_Destroy(kind, 0);
}

// Owner's addresses are device addresses, and nothing of it is mapped for the processor.
SPEC_CASE(mk_objects, queries) {
  const mk::Devices& d = mk::devices();
  for (unsigned place = 1; place < mk::kPlaces; ++place) {
    CHECK_EQ(gex_EP_QuerySegment(d.ep[place]), d.segment[place]);
    CHECK_EQ(gex_Segment_QueryClient(d.segment[place]), job().client);
    CHECK(gex_Segment_QuerySize(d.segment[place]) >= mk::kBytes);
    for (gex_Rank_t r = 0; r < job().size; ++r) {
      void *owner = nullptr, *local = &owner;
      uintptr_t size = 0;
      CHECK_EQ(gex_Segment_QueryBound(mk::pair(0, place), r, &owner, &local, &size), 0);
      CHECK(owner != nullptr);
      CHECK_EQ(local, nullptr);
      CHECK(size >= mk::kBytes);
      if (r == job().rank) CHECK_EQ(owner, gex_Segment_QueryAddr(d.segment[place]));
    }
  }
}

// A segment that is destroyed makes room for another one at the same endpoint. Catches memory that
// stays mapped in peers, and windows that stay open.
SPEC_CASE(mk_objects, rebind) {
  mk::devices();
  gex_MK_t kind = GEX_MK_INVALID;
  const gex_MK_Create_args_t args = good();
  CHECK_EQ(gex_MK_Create(&kind, job().client, &args, 0), GASNET_OK);
  gex_EP_t ep = GEX_EP_INVALID;
  CHECK_EQ(gex_EP_Create(&ep, job().client, GEX_EP_CAPABILITY_ALL, 0), GASNET_OK);
  const gex_TM_t pair = gex_TM_Pair(job().ep, gex_EP_QueryIndex(ep));
  const gex_Rank_t peer = job().peer();
  for (int round = 0; round < 4; ++round) {
    // In turn a device's and the host's.
    gex_Segment_t s = GEX_SEGMENT_INVALID;
    CHECK_EQ(gex_Segment_Create(&s, job().client, nullptr, 65536,
                                round % 2 == 0 ? kind : GEX_MK_HOST, 0),
             GASNET_OK);
    CHECK_EQ(gex_EP_BindSegment(ep, s, 0), GASNET_OK);
    CHECK_EQ(gex_EP_PublishBoundSegment(job().tm, &ep, 1, 0), GASNET_OK);
    void* there = nullptr;
    CHECK_EQ(gex_Segment_QueryBound(pair, peer, &there, nullptr, nullptr), 0);
    std::vector<std::byte> out(5000), in(5000);
    spec::fill(out.data(), out.size(), static_cast<uint64_t>(round) + job().rank);
    CHECK_EQ(gex_RMA_PutBlocking(pair, peer, there, out.data(), out.size(), 0), 0);
    CHECK_EQ(gex_RMA_GetBlocking(pair, in.data(), peer, there, in.size(), 0), 0);
    CHECK_PATTERN(in.data(), in.size(), static_cast<uint64_t>(round) + job().rank);
    spec::barrier();
    gex_Segment_Destroy(s, 0);
    CHECK_EQ(gex_EP_QuerySegment(ep), GEX_SEGMENT_INVALID);
    spec::barrier();
  }
  gex_MK_Destroy(kind, 0);
}

// One device, several kinds: each is its own object over the same device.
SPEC_CASE(mk_objects, several_kinds) {
  std::vector<gex_MK_t> kinds(5, GEX_MK_INVALID);
  const gex_MK_Create_args_t args = good();
  for (gex_MK_t& kind : kinds) {
    CHECK_EQ(gex_MK_Create(&kind, job().client, &args, 0), GASNET_OK);
    CHECK(kind != GEX_MK_HOST && kind != GEX_MK_INVALID);
  }
  for (size_t i = 1; i < kinds.size(); ++i) CHECK(kinds[i] != kinds[0]);
  for (const gex_MK_t kind : kinds) gex_MK_Destroy(kind, 0);
}

// Catches a size that loses its upper half on the way from the driver. Where the device has less,
// there is nothing to see.
SPEC_CASE(mk_objects, large) {
  constexpr uintptr_t kLarge = (uintptr_t{5} << 30) + 4096;
  gex_MK_t kind = GEX_MK_INVALID;
  const gex_MK_Create_args_t args = good();
  CHECK_EQ(gex_MK_Create(&kind, job().client, &args, 0), GASNET_OK);
  gex_System_SetVerboseErrors(0);
  gex_Segment_t own = GEX_SEGMENT_INVALID;
  const int answer = gex_Segment_Create(&own, job().client, nullptr, kLarge, kind, 0);
  gex_System_SetVerboseErrors(1);
  if (answer == GASNET_OK) {
    // As if it were the client's: all of it is the device's, from its first byte to its last.
    CHECK_EQ(segment(gex_Segment_QueryAddr(own), kLarge, kind), GASNET_OK);
    gex_Segment_Destroy(own, 0);
  } else {
    CHECK_EQ(answer, GASNET_ERR_RESOURCE);
  }
  gex_MK_Destroy(kind, 0);
}
