// wordfreq FILE [--top K]: counts the words of a file over all ranks of the job.
//
// Each rank counts the words of its slice, sends the counts to the ranks that own the words
// (exchange.h), and lays the words it owns out in its segment, from where rank 0 fetches them
// (results.h).
#include <gasnetex.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "exchange.h"
#include "handlers.h"
#include "results.h"
#include "text.h"
#if __has_include(<causeway/report.h>)
#include <causeway/report.h>
#define WORDFREQ_REPORT 1
#else
#define WORDFREQ_REPORT 0
#endif

namespace wordfreq {
namespace {

constexpr size_t kWordsAtOnce = 1 << 20;  // different words held before they are sent
constexpr unsigned kWordsPerPoll = 1 << 14;

struct Arguments {
  const char* file = nullptr;
  size_t top = 10;
};

const char* const kUsage =
    "usage: wordfreq FILE [--top K]\n"
    "Counts the words of FILE, runs of ASCII letters without regard to case, over all ranks of\n"
    "the job, and prints the K most frequent ones (10; 0 for all).\n";

bool parse_number(const char* text, size_t& number) {
  if (text == nullptr || *text < '0' || *text > '9') return false;
  char* end = nullptr;
  errno = 0;
  number = strtoull(text, &end, 10);
  return errno == 0 && *end == '\0';
}

bool parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--top") == 0) {
      if (!parse_number(argv[++i], arguments.top)) return false;
    } else if (argv[i][0] == '-' || arguments.file != nullptr) {
      return false;
    } else {
      arguments.file = argv[i];
    }
  }
  return arguments.file != nullptr;
}

void barrier(gex_TM_t team) {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

// Rank 0 hears from everybody whether the file could be opened, and tells everybody to go on or
// to end, so that the one message is printed before anybody leaves.
struct Agreement {
  volatile uint32_t heard = 0;
  volatile uint32_t failed = 0;
  volatile gex_Rank_t failed_rank = GEX_RANK_INVALID;
  volatile int verdict = -1;
} agreement;

extern "C" {
void wordfreq_on_status(gex_Token_t, gex_AM_Arg_t rank, gex_AM_Arg_t failed) {
  agreement.heard = agreement.heard + 1;
  if (failed == 0) return;
  agreement.failed = agreement.failed + 1;
  if (static_cast<gex_Rank_t>(rank) < agreement.failed_rank)
    agreement.failed_rank = static_cast<gex_Rank_t>(rank);
}
void wordfreq_on_verdict(gex_Token_t, gex_AM_Arg_t go_on) {
  agreement.verdict = go_on;
}
}

std::vector<gex_AM_Entry_t> all_handlers() {
  const gex_Flags_t request = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST;
  std::vector<gex_AM_Entry_t> table = {
      handler(kStatus, wordfreq_on_status, request, 2, "status"),
      handler(kVerdict, wordfreq_on_verdict, request, 1, "verdict")};
  for (const auto& more : {Exchange::handlers(), Results::handlers()})
    table.insert(table.end(), more.begin(), more.end());
  return table;
}

// On every rank: did every rank open the file? Rank 0 prints why not, once.
bool everyone_opened(gex_TM_t team, const char* path, const File& file) {
  const gex_Rank_t me = gex_TM_QueryRank(team), ranks = gex_TM_QuerySize(team);
  if (me == 0 && !file.error().empty())
    fprintf(stderr, "wordfreq: %s: %s\n", path, file.error().c_str());
  gex_AM_RequestShort2(team, 0, kStatus, 0, static_cast<gex_AM_Arg_t>(me),
                       file.error().empty() ? 0 : 1);
  if (me == 0) {
    GASNET_BLOCKUNTIL(agreement.heard == ranks);
    if (agreement.failed > 0 && file.error().empty())
      fprintf(stderr, "wordfreq: %s: %u of %u ranks cannot open it, the first is rank %u\n", path,
              static_cast<unsigned>(agreement.failed), ranks,
              static_cast<unsigned>(agreement.failed_rank));
    fflush(stderr);
    for (gex_Rank_t rank = 0; rank < ranks; ++rank)
      gex_AM_RequestShort1(team, rank, kVerdict, 0, agreement.failed == 0 ? 1 : 0);
  }
  GASNET_BLOCKUNTIL(agreement.verdict >= 0);
  return agreement.verdict == 1;
}

void count_slice(std::string_view text, Exchange& exchange) {
  Counts counts;
  std::string word;
  for (unsigned words = 1; next_word(text, word); ++words) {
    ++counts[word];
    if (counts.size() >= kWordsAtOnce) {
      exchange.add(counts);
      counts.clear();
    }
    // Counts of other ranks are waiting to be added meanwhile.
    if (words % kWordsPerPoll == 0) gasnet_AMPoll();
  }
  exchange.add(counts);
  exchange.finish();
}

void print(gex_TM_t team, Results& results, size_t top) {
  std::vector<Entry> entries;
  Results::Header totals{};
  for (gex_Rank_t owner = 0; owner < gex_TM_QuerySize(team); ++owner)
    results.fetch(owner, entries, totals);
  for (const Entry& entry : most_frequent(std::move(entries), top))
    printf("%" PRIu64 " %s\n", entry.count, entry.word.c_str());
  printf("# %" PRIu64 " words, %" PRIu64 " different, counted by %u rank%s\n", totals.words,
         totals.distinct, gex_TM_QuerySize(team), gex_TM_QuerySize(team) == 1 ? "" : "s");
#if WORDFREQ_REPORT
  cwy_report_v1([](void*, const char* line) { printf("# rank 0: %s\n", line); }, nullptr);
#endif
  fflush(stdout);
}

int run(gex_TM_t team, const Arguments& arguments) {
  const File file(arguments.file);
  if (!everyone_opened(team, arguments.file, file)) return 1;
  const gex_Rank_t me = gex_TM_QueryRank(team);
  Exchange exchange(team);
  barrier(team);  // no counts before everybody can take them
  count_slice(slice(file.text(), me, gex_TM_QuerySize(team)), exchange);
  barrier(team);  // every rank's counts have been answered: every table is complete
  Results results(team, exchange.owned(), arguments.top);
  results.publish();
  barrier(team);
  if (me == 0) print(team, results, arguments.top);
  barrier(team);  // segments and tables stay until rank 0 has fetched them
  return 0;
}

}  // namespace
}  // namespace wordfreq

int main(int argc, char** argv) {
  using namespace wordfreq;
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t team;
  gex_Segment_t segment;
  if (gex_Client_Init(&client, &ep, &team, "WORDFREQ", &argc, &argv, 0) != GASNET_OK) return 1;
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    if (gex_TM_QueryRank(team) == 0) fputs(kUsage, stderr);
    barrier(team);
    gasnet_exit(2);
  }
  std::vector<gex_AM_Entry_t> table = all_handlers();
  if (gex_EP_RegisterHandlers(ep, table.data(), table.size()) != GASNET_OK) gasnet_exit(1);
  if (gex_Segment_Attach(&segment, team, Results::kSegmentBytes) != GASNET_OK) gasnet_exit(1);
  gasnet_exit(run(team, arguments));
}
