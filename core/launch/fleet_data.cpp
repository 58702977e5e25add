// What several hosts of a fleet put together: fences, and questions for data of another host.
#include <algorithm>

#include "base/error.h"
#include "launch/clock.h"
#include "launch/fleet.h"

namespace causeway::launch {
namespace {

// The time for a question for another process's data where the asking side gives none, and the
// most.
constexpr double kQuestionLimit = 60.0, kLongestQuestion = 1e6;
// Fences that a host has joined and that wait for others, beyond one for each of its processes.
constexpr size_t kFencesOfHost = 16;

}  // namespace

std::vector<uint32_t> Fleet::hosts_of(const std::vector<uint32_t>& participants) const {
  std::vector<uint32_t> list;
  for (uint32_t host = 0; host < hosts_.size(); ++host) {
    const bool takes_part = participants.empty()
                                ? !layout_.on_host(host).empty()
                                : std::ranges::any_of(participants, [&](uint32_t p) {
                                    return layout_.host_of[p] == host;
                                  });
    if (takes_part) list.push_back(host);
  }
  return list;
}

// The same processes cannot begin their next fence before this one has been answered, so they
// name it.
void Fleet::take_fence(uint32_t host, Unpacker& in) {
  const auto participants = in.take<std::vector<uint32_t>>();
  const std::vector<uint32_t> hosts = hosts_of(participants);
  if (!std::is_sorted(participants.begin(), participants.end()) ||
      (!participants.empty() && participants.back() >= layout_.processes()) ||
      !std::ranges::binary_search(hosts, host))
    throw Error(CWY_ERR_INVALID, "a fence of nobody, or of others");
  const auto pending = std::ranges::count_if(
      gatherings_, [host](const auto& g) { return g.second.parts.count(host) != 0; });
  if (static_cast<size_t>(pending) > layout_.on_host(host).size() + kFencesOfHost)
    throw Error(CWY_ERR_INVALID, "more fences than it has processes");
  Gathering& gathering = gatherings_[participants];
  gathering.parts[host] = std::string(in.rest());
  bool hopeless = false;
  for (uint32_t process = 0; process < ended_.size(); ++process) {
    const bool takes_part =
        participants.empty() || std::ranges::binary_search(participants, process);
    hopeless = hopeless || (takes_part && ended_[process]);
  }
  if (hopeless) return answer_fence(participants, false);
  if (gathering.parts.size() < hosts.size() || gathering.asked) return;
  gathering.asked = true;
  PmixReport report(PmixReport::Kind::fence);
  report.participants = participants;
  report.answer = [this, participants](bool complete, const std::string*) {
    answer_fence(participants, complete);
  };
  events_.on_report(report);
}

void Fleet::answer_fence(const std::vector<uint32_t>& participants, bool complete) {
  const auto found = gatherings_.find(participants);
  if (found == gatherings_.end()) return;
  std::string all;
  for (const auto& [host, part] : found->second.parts) all += part;
  const std::string body = pack(participants, complete, complete ? all : std::string());
  for (const auto& [host, part] : found->second.parts)
    hosts_[host].channel.send(Word::fence_done, body);
  gatherings_.erase(found);
}

void Fleet::take_question(uint32_t host, Unpacker& in) {
  Question question{host, in.take<uint64_t>(), in.take<uint32_t>(), 0.0};
  const auto limit = in.take<double>();
  question.until = now_s() + (limit > 0 ? std::min(limit, kLongestQuestion) : kQuestionLimit);
  const uint64_t number = next_question_++;
  questions_[number] = question;
  if (question.process >= layout_.processes() || ended_[question.process])
    return answer_question(number, false, "");
  hosts_[layout_.host_of[question.process]].channel.send(Word::modex_ask,
                                                         pack(number, question.process, limit));
}

void Fleet::take_answer(uint32_t host, Unpacker& in) {
  const auto number = in.take<uint64_t>();
  const auto question = questions_.find(number);
  if (question == questions_.end()) return;
  checked_process(host, question->second.process);
  const bool found = in.take<bool>();
  answer_question(number, found, in.take<std::string>());
}

void Fleet::answer_question(uint64_t number, bool found, std::string_view data) {
  const auto question = questions_.find(number);
  if (question == questions_.end()) return;
  hosts_[question->second.asker].channel.send(Word::modex_data,
                                              pack(question->second.of_asker, found, data));
  questions_.erase(question);
}

bool Fleet::reads_stdin(uint32_t host) const {
  return options_.stdin_rank && layout_.host_of[*options_.stdin_rank] == host;
}

void Fleet::forget(uint32_t process) {
  if (ended_[process]) return;
  ended_[process] = true;
  --hosts_[layout_.host_of[process]].running;
  std::vector<std::vector<uint32_t>> hopeless;
  for (const auto& [participants, gathering] : gatherings_)
    if (participants.empty() || std::ranges::binary_search(participants, process))
      hopeless.push_back(participants);
  for (const auto& participants : hopeless) answer_fence(participants, false);
  std::vector<uint64_t> numbers;
  for (const auto& [number, question] : questions_)
    if (question.process == process) numbers.push_back(number);
  for (const uint64_t number : numbers) answer_question(number, false, "");
}

}  // namespace causeway::launch
