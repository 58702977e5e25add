// Words and JSON of what job_view.h has seen.
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "commands.h"
#include "job_view.h"
#include "text.h"

namespace causeway::command {

std::string duration_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string amount_text(double n) {
  const char* unit = " kMGTP";
  for (; n >= 999.5 && unit[1] != '\0'; ++unit) n /= 1000;
  if (*unit == ' ') return fmt::format("{:.0f}", n);
  return fmt::format("{:.{}f}{}", n, n < 9.95 ? 1 : 0, *unit);
}

std::string state_text(const RankView& rank) {
  const std::string word = rank.state();
  if (rank.waits.empty())
    return word == "starts" ? word + " " + duration_text(rank.waited_s()) : word;
  const size_t more = rank.waits.size() - 1;
  const char* const at_least = rank.waits.size() == WaitEntries{}.size() ? "at least " : "";
  return fmt::format(
      "{} {} in {} for {}{}", word == "waits" ? word : word + ", waits",
      duration_text(rank.waited_s()), plain(rank.waits[0].call),
      plain(rank.waits[0].what) + (rank.handlers != 0 ? "; a thread runs a handler" : ""),
      more == 0 ? ""
                : fmt::format("; {}{} more {}", at_least, more,
                              more == 1 ? "thread waits" : "threads wait"));
}

namespace {

// Several hosts of a job may be on one machine, as network namespaces.
size_t ranks_elsewhere(const std::vector<RankView>& ranks) {
  const size_t here = std::max<size_t>(ranks.size(), ranks[0].ranks_here);
  return ranks[0].ranks - std::min<size_t>(ranks[0].ranks, here);
}

// The lowest of the job's ranks that is not among `ranks`, in whatever order these are.
uint32_t first_missing(const std::vector<RankView>& ranks) {
  std::set<uint32_t> there;
  for (const RankView& view : ranks) there.insert(view.rank);
  uint32_t rank = 0;
  while (there.count(rank) != 0) ++rank;
  return rank;
}

}  // namespace

std::string state_text(const std::vector<RankView>& ranks) {
  struct Group {
    size_t count;
    double longest;
    uint32_t rank;
  };
  std::map<std::string, Group> words;
  for (const RankView& rank : ranks) {
    Group& group = words[rank.state()];
    // A rank that ends may have waited, and been ended in that wait.
    const double waited = rank.phase == StatusPage::leaves ? 0 : rank.waited_s();
    group = {group.count + 1, std::max(group.longest, waited), rank.rank};
  }
  std::vector<std::string> parts;
  const size_t missing = ranks[0].ranks_here - std::min<size_t>(ranks[0].ranks_here, ranks.size());
  if (missing != 0) {
    // While all others are in the start, those that are missing have not come yet.
    const bool all_start = std::all_of(ranks.begin(), ranks.end(), [](const RankView& rank) {
      return rank.phase == StatusPage::starts && !rank.outside;
    });
    const bool named = missing == 1 && ranks[0].ranks_here == ranks[0].ranks;
    parts.push_back(fmt::format(
        "{} {}", named ? fmt::format("rank {}", first_missing(ranks)) : fmt::to_string(missing),
        all_start ? "not here yet" : "ended"));
  }
  const bool alone = words.size() + parts.size() == 1;
  for (const auto& [word, of] : words) {
    const bool named = word.starts_with("outside") && of.count == 1;
    const std::string who = named ? fmt::format("rank {} ", of.rank) : fmt::format("{} ", of.count);
    std::string does = word;  // "2 wait": without the last letter of the singular
    const size_t verb = std::min(does.find(' '), does.size()) - 1;
    if (!alone && of.count > 1 && does[verb] == 's') does.erase(verb, 1);
    parts.insert(
        named ? parts.begin() : parts.end(),
        (alone ? "" : who) + does + (of.longest > 0 ? " " + duration_text(of.longest) : ""));
  }
  if (const size_t elsewhere = ranks_elsewhere(ranks); elsewhere != 0)
    parts.push_back(fmt::format("{} elsewhere", elsewhere));
  if (const uint32_t spares = ranks[0].spares; spares != 0)
    parts.push_back(fmt::format("{} spare{}", spares, spares == 1 ? "" : "s"));
  return fmt::format("{}", fmt::join(parts, ", "));
}

namespace {

// A collective as the text of a wait has it: "CALL, number N on a team of SIZE, id ID".
struct Collective {
  std::string what;  // that text, or the call where there are no numbers
  std::string team;  // what waits for collectives of one team have in common
  uint64_t number = 0;
  uint32_t members = 0;
  bool of_all = false;  // it is known that every rank is a member

  Collective(const WaitEntry::Told& wait, uint32_t ranks) : what(plain(wait.what)) {
    std::string mark = "the first of them ";
    if (const size_t at = what.find(mark); at != what.npos) what.erase(0, at + mark.size());
    const std::string call = plain(wait.call);
    if (what == "the other ranks") {  // GASNet-1's
      what = call, team = fmt::format("team of {}, id 0", ranks), members = ranks, of_all = true;
      return;
    }
    if (what.starts_with("number ")) what = call + ", " + what;
    const size_t at = what.find(mark = ", number "), on = what.find(" on a ", at);
    const size_t of = what.find(" of ", on);
    if (at == what.npos || on == what.npos || of == what.npos) return;
    number = std::strtoull(what.c_str() + at + mark.size(), nullptr, 10);
    members = static_cast<uint32_t>(std::strtoul(what.c_str() + of + 4, nullptr, 10));
    team = what.substr(on + 6);
    of_all = members == ranks;
    if (!team.starts_with("group")) return;
    // Each kind of call has numbers of its own there, and each member calls a group what it likes,
    // but for the group of all: of others it is not known which waits are for the same one.
    of_all = of_all && team.ends_with(", id 0");
    if (!of_all) members = 1, number = 0;
    team = of_all ? team + what.substr(0, at) : what;
  }
};

}  // namespace

std::vector<std::string> absent_texts(const std::vector<RankView>& ranks) {
  struct Team {
    Collective first;  // begun by those that wait
    std::set<uint32_t> waiting;
  };
  std::map<std::string, Team> teams;
  for (const RankView& rank : ranks) {
    for (const WaitEntry::Told& wait : rank.waits) {
      const Collective on(wait, rank.ranks);
      if (on.members == 0) continue;
      Team& team = teams.try_emplace(on.team, Team{on, {}}).first->second;
      team.waiting.insert(rank.rank);
      if (on.number < team.first.number) team.first = on;
    }
  }
  std::vector<std::string> lines;
  for (const auto& [id, team] : teams) {
    std::set<uint32_t> absent;
    for (const RankView& rank : ranks)
      if (!team.waiting.contains(rank.rank)) absent.insert(rank.rank);
    const size_t elsewhere = ranks_elsewhere(ranks), waiting = team.waiting.size();
    if (!team.first.of_all) {
      if (team.first.members == 1)
        lines.push_back(fmt::format("{}: waited for by rank{} {}", team.first.what,
                                    waiting == 1 ? "" : "s", fmt::join(team.waiting, ", ")));
      else if (waiting < team.first.members)
        lines.push_back(fmt::format("{}: waited for by {} of its {} members{}, rank{} {}",
                                    team.first.what, waiting, team.first.members,
                                    elsewhere == 0 ? "" : " here", waiting == 1 ? "" : "s",
                                    fmt::join(team.waiting, ", ")));
    } else if (absent.empty() && elsewhere != 0) {
      lines.push_back(
          fmt::format("{}: every rank here waits for it; `causeway ps` elsewhere tells "
                      "of the other {}",
                      team.first.what, elsewhere));
    } else if (!absent.empty()) {
      lines.push_back(fmt::format(
          "{}: not waited for, nor a later one, by rank{} {}: not there yet, or past it",
          team.first.what, absent.size() == 1 ? "" : "s", fmt::join(absent, ", ")));
    }
  }
  return lines;
}

int say_unknown(const char* command, const std::string& job) {
  fmt::print(stderr,
             "causeway {}: no job '{}' of this user has ranks on this host; `causeway ps` lists "
             "those that have (a process that no launcher "
             "started is in none)\n",
             command, job);
  return kFailed;
}

// ---- JSON ----

namespace {

template <typename T>
std::string json_of(const Traffic<T>& traffic) {
  return fmt::format(R"("sent":{},"sent_bytes":{},"received":{},"received_bytes":{},"retries":{})",
                     traffic.of[StatusPage::sent], traffic.of[StatusPage::sent_bytes],
                     traffic.of[StatusPage::received], traffic.of[StatusPage::received_bytes],
                     traffic.of[StatusPage::retries]);
}

std::string json_of(const RankView& rank) {
  std::string out = fmt::format(
      R"({{"rank":{},"pid":{},"epoch":{},"state":"{}","resident_bytes":{},"shared_bytes":{},)"
      R"("processor_s":{:.2f},"waits":)",
      rank.rank, rank.pid, rank.epoch, rank.state(), rank.resident, rank.shared,
      static_cast<double>(rank.processor_ns) / 1e9);
  out += json_each(rank.waits, [&](const WaitEntry::Told& wait) {
    return fmt::format(R"({{"call":{},"for":{},"seconds":{:.3f},"thread":{}}})",
                       json_text(plain(wait.call)), json_text(plain(wait.what)),
                       since(wait.since_ns, rank.looked_ns), wait.thread);
  });
  if (rank.taken_ns != 0)
    out += fmt::format(R"(,"counted_s_ago":{:.3f},"connections":{},"handlers":{},{})",
                       since(rank.taken_ns, rank.looked_ns), rank.connections, rank.handlers,
                       json_of(rank.total));
  if (rank.seconds > 0)
    out +=
        fmt::format(R"(,"processor":{:.3f},"per_s":{{{}}})", rank.processor, json_of(rank.per_s));
  return out + ",\"peers\":" +
         json_each(rank.peers,
                   [&](const auto& peer) {
                     const auto rate = rank.peers_per_s.find(peer.first);
                     return fmt::format(
                         R"({{"rank":{},{}{}}})", peer.first, json_of(peer.second),
                         rate == rank.peers_per_s.end()
                             ? ""
                             : fmt::format(R"(,"operations_per_s":{:.1f},"bytes_per_s":{:.1f})",
                                           rate->second.operations(), rate->second.bytes()));
                   }) +
         "}";
}

}  // namespace

std::string json_of(const Jobs& jobs) {
  return json_each(jobs, [&](const auto& job) {
    const RankView& first = job.second[0];
    return fmt::format(
        R"({{"job":{},"launcher":{},"program":{},"ranks":{},"ranks_here":{},"ranks_elsewhere":{},)"
        R"("spares":{},"age_s":{:.1f},"state":"{}","processes":{}}})",
        json_text(job.first), first.launcher, json_text(first.program), first.ranks,
        job.second.size(), ranks_elsewhere(job.second), first.spares, first.age_s(),
        state_text(job.second),
        json_each(job.second, [](const RankView& rank) { return json_of(rank); }));
  });
}

}  // namespace causeway::command
