// Makes every call of the interfaces before gex_Client_Init(), each in a process of its own, and
// says which did not end in one line that names it. Left out is what works without a job
// (gasnet_ErrorName(), handler-safe locks, gasnett_*), and what is compiled into the client:
// gex_RMA_*, gex_TM_QueryRank(), gex_TM_QuerySize().
#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

struct Call {
  const char* name;
  void (*make)();
};

constexpr int kReturned = 77;

gex_Event_t some_event() {
  return reinterpret_cast<gex_Event_t>(uintptr_t{64});
}

#define CALL(name, ...)                                      \
  {                                                          \
#name "()", [] { static_cast<void>(name(__VA_ARGS__)); } \
  }

// These must end the process.
const Call kFatal[] = {
    CALL(gasnet_AMPoll),
    {"GASNET_BLOCKUNTIL()", [] { GASNET_BLOCKUNTIL(false); }},
    CALL(gex_System_QueryJobRank),
    CALL(gex_System_QueryJobSize),
    CALL(gex_System_QueryNbrhdInfo, nullptr, nullptr, nullptr),
    CALL(gex_System_QueryHostInfo, nullptr, nullptr, nullptr),
    CALL(gex_System_QueryMyPosition, nullptr, nullptr, nullptr, nullptr),
    CALL(gasnet_getMaxLocalSegmentSize),
    CALL(gasnet_getMaxGlobalSegmentSize),
    CALL(gex_Client_QueryName, GEX_CLIENT_INVALID),
    CALL(gex_Client_QueryFlags, GEX_CLIENT_INVALID),
    CALL(gex_Client_SetCData, GEX_CLIENT_INVALID, nullptr),
    CALL(gex_Client_QueryCData, GEX_CLIENT_INVALID),
    CALL(gex_EP_QueryClient, GEX_EP_INVALID),
    CALL(gex_EP_QueryFlags, GEX_EP_INVALID),
    CALL(gex_EP_QuerySegment, GEX_EP_INVALID),
    CALL(gex_EP_QueryIndex, GEX_EP_INVALID),
    CALL(gex_EP_SetCData, GEX_EP_INVALID, nullptr),
    CALL(gex_EP_QueryCData, GEX_EP_INVALID),
    CALL(gex_EP_Create, nullptr, GEX_CLIENT_INVALID, GEX_EP_CAPABILITY_ALL, 0),
    CALL(gex_EP_QueryBoundSegmentNB, GEX_TM_INVALID, 0, nullptr, nullptr, nullptr, 0),
    CALL(gex_EP_PublishBoundSegment, GEX_TM_INVALID, nullptr, 0, 0),
    CALL(gex_Segment_QueryBound, GEX_TM_INVALID, 0, nullptr, nullptr, nullptr),
    CALL(gex_Segment_Attach, nullptr, GEX_TM_INVALID, 4096),
    CALL(gex_Segment_Destroy, GEX_SEGMENT_INVALID, 0),
    CALL(gex_Segment_QueryClient, GEX_SEGMENT_INVALID),
    CALL(gex_Segment_QueryFlags, GEX_SEGMENT_INVALID),
    CALL(gex_Segment_QueryAddr, GEX_SEGMENT_INVALID),
    CALL(gex_Segment_QuerySize, GEX_SEGMENT_INVALID),
    CALL(gex_Segment_SetCData, GEX_SEGMENT_INVALID, nullptr),
    CALL(gex_Segment_QueryCData, GEX_SEGMENT_INVALID),
    CALL(gex_TM_QueryClient, GEX_TM_INVALID),
    CALL(gex_TM_QueryEP, GEX_TM_INVALID),
    CALL(gex_TM_QueryFlags, GEX_TM_INVALID),
    CALL(gex_TM_SetCData, GEX_TM_INVALID, nullptr),
    CALL(gex_TM_QueryCData, GEX_TM_INVALID),
    CALL(gex_TM_Split, nullptr, GEX_TM_INVALID, 0, 0, nullptr, 0, 0),
    CALL(gex_TM_Create, nullptr, 0, GEX_TM_INVALID, nullptr, 0, nullptr, 0, 0),
    CALL(gex_TM_Dup, nullptr, GEX_TM_INVALID, nullptr, 0, 0),
    CALL(gex_TM_Destroy, GEX_TM_INVALID, nullptr, 0),
    CALL(gex_TM_Pair, GEX_EP_INVALID, 0),
    CALL(gex_TM_TranslateRankToJobrank, GEX_TM_INVALID, 0),
    CALL(gex_TM_TranslateJobrankToRank, GEX_TM_INVALID, 0),
    CALL(gex_TM_TranslateRankToEP, GEX_TM_INVALID, 0, 0),
    CALL(gex_AM_MaxRequestLong, GEX_TM_INVALID, 0, nullptr, 0, 0),
    CALL(gex_AM_MaxReplyLong, GEX_TM_INVALID, 0, nullptr, 0, 0),
    CALL(gex_AM_MaxRequestMedium, GEX_TM_INVALID, 0, nullptr, 0, 0),
    CALL(gex_AM_MaxReplyMedium, GEX_TM_INVALID, 0, nullptr, 0, 0),
    CALL(gex_Token_MaxReplyLong, nullptr, nullptr, 0, 0),
    CALL(gex_Token_MaxReplyMedium, nullptr, nullptr, 0, 0),
    CALL(gex_Token_Info, nullptr, nullptr, GEX_TI_ALL),
    CALL(gex_AM_RequestShort, GEX_TM_INVALID, 0, 200, 0),
    CALL(gex_AM_RequestMedium, GEX_TM_INVALID, 0, 200, nullptr, 0, GEX_EVENT_NOW, 0),
    CALL(gex_AM_RequestLong, GEX_TM_INVALID, 0, 200, nullptr, 0, nullptr, GEX_EVENT_NOW, 0),
    CALL(gex_AM_ReplyShort, nullptr, 200, 0),
    CALL(gex_AM_ReplyMedium, nullptr, 200, nullptr, 0, GEX_EVENT_NOW, 0),
    CALL(gex_AM_ReplyLong, nullptr, 200, nullptr, 0, nullptr, GEX_EVENT_NOW, 0),
    CALL(gex_AM_PrepareRequestMedium, GEX_TM_INVALID, 0, nullptr, 0, 8, nullptr, 0, 0),
    CALL(gex_AM_PrepareRequestLong, GEX_TM_INVALID, 0, nullptr, 0, 8, nullptr, nullptr, 0, 0),
    CALL(gex_AM_PrepareReplyMedium, nullptr, nullptr, 0, 8, nullptr, 0, 0),
    CALL(gex_AM_PrepareReplyLong, nullptr, nullptr, 0, 8, nullptr, nullptr, 0, 0),
    CALL(gex_AM_CommitRequestMedium, GEX_AM_SRCDESC_NO_OP, 200, 0, 0),
    CALL(gex_AM_CancelRequestMedium, GEX_AM_SRCDESC_NO_OP, 0),
    CALL(gex_Event_Test, some_event()),
    CALL(gex_Event_Wait, some_event()),
    CALL(gex_Event_TestSome, nullptr, 0, 0),
    CALL(gex_Event_WaitSome, nullptr, 0, 0),
    CALL(gex_Event_TestAll, nullptr, 0, 0),
    CALL(gex_Event_WaitAll, nullptr, 0, 0),
    CALL(gex_Event_QueryLeaf, some_event(), GEX_EC_LC),
    CALL(gex_NBI_Test, GEX_EC_ALL, 0),
    CALL(gex_NBI_Wait, GEX_EC_ALL, 0),
    CALL(gex_NBI_BeginAccessRegion, 0),
    CALL(gex_NBI_EndAccessRegion, 0),
    CALL(gex_Coll_BarrierNB, GEX_TM_INVALID, 0),
    CALL(gex_Coll_BroadcastNB, GEX_TM_INVALID, 0, nullptr, nullptr, 0, 0),
    CALL(gex_Coll_ReduceToAllNB, GEX_TM_INVALID, nullptr, nullptr, GEX_DT_U64, 8, 1, GEX_OP_ADD,
         nullptr, nullptr, 0),
    CALL(gex_VIS_VectorPutNB, GEX_TM_INVALID, 0, 0, nullptr, 0, nullptr, 0),
    CALL(gex_VIS_IndexedGetNBI, GEX_TM_INVALID, 0, nullptr, 0, 0, 0, nullptr, 0, 0),
    CALL(gex_VIS_StridedPutBlocking, GEX_TM_INVALID, 0, nullptr, nullptr, nullptr, nullptr, 8,
         nullptr, 0, 0),
    CALL(gex_VIS_SetPeerCompletionHandler, 200, nullptr, 0, 0),
    {"gex_AD_Create()", [] { gex_AD_Create(nullptr, GEX_TM_INVALID, GEX_DT_U64, GEX_OP_ADD, 0); }},
    CALL(gex_AD_Destroy, GEX_AD_INVALID),
    CALL(gex_AD_QueryFlags, GEX_AD_INVALID),
    CALL(gex_AD_QueryTM, GEX_AD_INVALID),
    CALL(gex_AD_SetCData, GEX_AD_INVALID, nullptr),
    CALL(gex_AD_QueryCData, GEX_AD_INVALID),
    CALL(gex_MK_Create, nullptr, GEX_CLIENT_INVALID, nullptr, 0),
    CALL(gex_MK_Destroy, GEX_MK_INVALID, 0),
    CALL(gasnet_put, 0, nullptr, nullptr, 8),
    CALL(gasnet_barrier_notify, 0, 0),
    CALL(gasnet_barrier_wait, 0, 0),
    CALL(gasnet_barrier_try, 0, 0),
    // Of GASNet-1, by what they are here.
    {"gex_System_QueryJobRank()", [] { static_cast<void>(gasnet_mynode()); }},
    {"gex_System_QueryJobSize()", [] { static_cast<void>(gasnet_nodes()); }},
    {"gasnet_AMRequestShort()", [] { gasnet_AMRequestShort0(0, 200); }},
    {"gex_NBI_Wait()", [] { gasnet_wait_syncnbi_all(); }},
};

// These have an error code for it.
const Call kRefused[] = {
    CALL(gasnet_attach, nullptr, 0, 4096, 0),
    CALL(gasnet_getSegmentInfo, nullptr, 0),
    CALL(gasnet_getNodeInfo, nullptr, 0),
    CALL(gex_EP_RegisterHandlers, GEX_EP_INVALID, nullptr, 0),
    CALL(gex_EP_BindSegment, GEX_EP_INVALID, GEX_SEGMENT_INVALID, 0),
    CALL(gex_Segment_Create, nullptr, GEX_CLIENT_INVALID, nullptr, 0, GEX_MK_HOST, 0),
    CALL(gex_System_QueryProgressThreads, GEX_CLIENT_INVALID, nullptr, nullptr, 0),
};

struct End {
  pid_t pid;
  int status;
  std::string said;
};

End make(const Call& call) {
  int ends[2];
  if (::pipe(ends) != 0) return {0, -1, "no pipe"};
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    ::alarm(20);  // one that waits for ever is wrong too
    call.make();
    ::_exit(kReturned);
  }
  ::close(ends[1]);
  End end{pid, 0, ""};
  char piece[512];
  for (ssize_t n; (n = ::read(ends[0], piece, sizeof piece)) > 0;) {
    end.said.append(piece, static_cast<size_t>(n));
  }
  ::close(ends[0]);
  ::waitpid(pid, &end.status, 0);
  return end;
}

bool ended_well(const Call& call, const End& end) {
  const std::string line =
      "causeway: process " + std::to_string(end.pid) + ": error: " + call.name + ": ";
  return WIFEXITED(end.status) && WEXITSTATUS(end.status) == 1 && end.said.rfind(line, 0) == 0 &&
         end.said.find('\n') == end.said.size() - 1;
}

bool returned(const End& end) {
  return WIFEXITED(end.status) && WEXITSTATUS(end.status) == kReturned;
}

}  // namespace

int main() {
  ::unsetenv("PMIX_RANK");
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // the children have nothing to flush
  int bad = 0, made = 0;
  const auto judge = [&](const Call& call, const End& end, bool good) {
    ++made;
    if (good) return;
    ++bad;
    std::printf("%s: wait status %#x, said '%s'\n", call.name, static_cast<unsigned>(end.status),
                end.said.c_str());
  };
  for (const Call& call : kFatal) {
    const End end = make(call);
    judge(call, end, ended_well(call, end));
  }
  for (const Call& call : kRefused) {
    const End end = make(call);
    judge(call, end, returned(end));
  }
  std::printf("%d calls, %d of them bad\n", made, bad);
  return bad == 0 ? 0 : 1;
}
