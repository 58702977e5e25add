#include "process/binding.h"

#include <unistd.h>

#include <string>

#include "base/context.h"
#include "base/error.h"
#include "base/log.h"
#include "collective/exchange.h"
#include "connection/job.h"
#include "object/client.h"
#include "object/endpoint.h"
#include "object/segment.h"
#include "object/team.h"
#include "process/report.h"

namespace causeway {
namespace {

// A member's message to the others: '=' and for_each_published()'s text, or '!' and why there is
// none.
std::string own_word(const std::function<std::vector<Endpoint*>()>& own) {
  try {
    std::string word = "=";
    for (const Endpoint* ep : own())
      put_published(word, ep->index(), ep->segment() != nullptr ? ep->segment()->pack() : "");
    return word;
  } catch (const Error& e) {
    return "!" + e.text();
  }
}

void require_all_well(const Team& team, const std::vector<std::string>& words) {
  for (uint32_t r = 0; r < team.size(); ++r) {
    if (!words[r].empty() && words[r].front() == '=') continue;
    const std::string why = words[r].empty() ? "no reason given" : words[r].substr(1);
    if (r == team.rank()) throw Error(CWY_ERR_NOMEM, "{}", why);
    throw Error(CWY_ERR_NOMEM, "rank {} failed: {}", r, why);
  }
}

void learn(const Team& team, const std::vector<std::string>& words) {
  Publications& publications = team.client()->publications();
  for (uint32_t r = 0; r < team.size(); ++r) {
    const uint32_t rank = team.job_rank(r);
    for_each_published(words[r], [&](uint16_t index, std::string_view packed) {
      publications.learn(index, rank, packed);
    });
  }
}

// The ranks of a host share the words of all in a file, which the lowest of them writes. Empty:
// there is none.
std::string offer(const CardTable& words, const Client& client) {
  const JobFacts& job = context().job();
  const std::string directory = job.facts().session_dir;
  if (directory.empty() || job.host().size() == 1) return {};
  const std::string file = fmt::format("{}/segments.{}", directory, client.id());
  if (job.host_index() == 0) {
    ::unlink(file.c_str());  // writing into what others have mapped since the last time ends them
    words.keep(file);
  }
  return file;
}

// A rank that finds no file there, or another text, goes on with its own.
void share(const CardTable& words, const std::string& file, Publications& publications) {
  try {
    const auto shared = CardTable::map(file, context().size());
    if (shared && shared->text() == words.text()) publications.replace(*shared);
  } catch (const Error& e) {
    log_info("{}; this rank keeps what all published itself", e.text());
  }
}

}  // namespace

void publish_segments(const char* call, Team& team,
                      const std::function<std::vector<Endpoint*>()>& own) {
  start_phase("segments");
  std::vector<std::string> words = causeway::exchange(team, own_word(own), call);
  require_all_well(team, words);
  Publications& publications = team.client()->publications();
  CardTable of_all;
  std::string file;
  if (&team == team.client()->team()) {
    of_all = publications.learn_all(std::move(words));
    file = offer(of_all, *team.client());
  } else {
    learn(team, words);
  }
  {
    const std::lock_guard lock(publications.mutex());
    team.client()->publish_windows();
  }
  // No member returns before all have heard: what they map at once may be destroyed right after.
  causeway::exchange(team, "", call);
  if (!file.empty()) share(of_all, file, publications);
  start_phase(nullptr);
}

void bind_everything(Client& client) {
  publish_segments("gasnet_attach()", *client.team(), [&]() -> std::vector<Endpoint*> {
    client.bind(*client.endpoint(), Segment::everything(&client));  // for good
    return {client.endpoint()};
  });
}

}  // namespace causeway
