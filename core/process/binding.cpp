#include "process/binding.h"

#include <string>

#include "base/error.h"
#include "collective/exchange.h"
#include "object/client.h"
#include "object/endpoint.h"
#include "object/segment.h"
#include "object/team.h"
#include "process/report.h"

namespace causeway {
namespace {

// A member's message to the others: '=' and "index length packed" per endpoint that has a segment,
// or '!' and why there is none.
std::string own_word(const std::function<std::vector<Endpoint*>()>& own) {
  try {
    std::string word = "=";
    for (const Endpoint* ep : own()) {
      if (ep->segment() == nullptr) continue;
      const std::string packed = ep->segment()->pack();
      word += fmt::format("{} {} ", ep->index(), packed.size());
      word += packed;
    }
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

void learn(Client& client, uint32_t rank, const std::string& word) {
  const char* at = word.c_str() + 1;
  const char* const end = word.c_str() + word.size();
  while (at < end) {
    char* rest = nullptr;
    const uint64_t index = std::strtoull(at, &rest, 10);
    const uint64_t length = std::strtoull(rest, &rest, 10);
    if (*rest != ' ' || length > static_cast<uint64_t>(end - rest - 1) ||
        index >= Endpoint::kMaxEndpoints)
      throw Error(CWY_ERR_INVALID, "what rank {} published is garbled", rank);
    client.publications().learn(static_cast<uint16_t>(index), rank, std::string(rest + 1, length));
    at = rest + 1 + length;
  }
}

}  // namespace

void publish_segments(const char* call, Team& team,
                      const std::function<std::vector<Endpoint*>()>& own) {
  start_phase("segments");
  const std::vector<std::string> words = causeway::exchange(team, own_word(own), call);
  require_all_well(team, words);
  for (uint32_t r = 0; r < team.size(); ++r) learn(*team.client(), team.member(r).rank, words[r]);
  {
    const std::lock_guard lock(team.client()->publications().mutex());
    team.client()->publish_windows();
  }
  // No member returns before all have mapped all segments: a segment may be destroyed right after.
  causeway::exchange(team, "", call);
  start_phase(nullptr);
}

void bind_everything(Client& client) {
  publish_segments("gasnet_attach()", *client.team(), [&]() -> std::vector<Endpoint*> {
    client.bind(*client.endpoint(), Segment::everything(&client));  // for good
    return {client.endpoint()};
  });
}

}  // namespace causeway
