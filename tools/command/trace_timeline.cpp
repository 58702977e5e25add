#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "base/error.h"
#include "json.h"
#include "trace_clocks.h"
#include "trace_pictures.h"

namespace causeway::command {
namespace {

class Timeline {
 public:
  explicit Timeline(const std::vector<Trace>& traces)
      : traces_(traces),
        messages_(match_messages(traces)),
        clocks_(common_clocks(traces, messages_)) {
    for (size_t t = 0; t < traces.size(); ++t)
      begin_ = std::min(begin_, clocks_[t].common(traces[t].header.begin_ns));
  }

  std::string json() {
    for (size_t t = 0; t < traces_.size(); ++t) {
      name(t);
      name_threads(t);
      for (const cwyt_record& r : traces_[t].records) event(t, r);
      for (const auto& [thread, open] : handlers_)
        for (const cwyt_record* r : open) instant(t, *r);
      handlers_.clear();
    }
    for (const Message& m : messages_) arrow(m);
    return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + out_ + "\n]}\n";
  }

  std::string about() const {
    std::set<std::string> hosts, unmeasured;
    int64_t uncertain = 0;
    uint64_t lost = 0;
    for (size_t t = 0; t < traces_.size(); ++t) {
      hosts.insert(traces_[t].header.host);
      lost += traces_[t].lost;
      if (!clocks_[t].measured) unmeasured.insert(traces_[t].header.host);
      uncertain = std::max(uncertain, clocks_[t].uncertain_ns);
    }
    const std::string all =
        fmt::format("{} rank(s), {} message(s) with both ends{}", traces_.size(), messages_.size(),
                    lost == 0 ? "" : fmt::format(", {} older records overwritten", lost));
    if (hosts.size() == 1) return all + "; one host, one clock";
    if (!unmeasured.empty())
      return fmt::format("{}; by the time of day, for want of messages both ways: {}", all,
                         fmt::join(unmeasured, ", "));
    return fmt::format("{}; clocks of {} hosts by their messages, to {:.1f} us", all, hosts.size(),
                       static_cast<double>(uncertain) / 1e3);
  }

 private:
  double us(size_t trace, uint64_t ns) const {
    return static_cast<double>(clocks_[trace].common(ns) - begin_) / 1e3;
  }
  uint64_t end_of(size_t trace, const cwyt_record& r) const {
    return traces_[trace].header.begin_ns + r.time_ns;
  }

  // An event of the format: its phase, time, and what follows.
  void put(char phase, size_t trace, uint64_t ns, const cwyt_record& r, const std::string& more) {
    fmt::format_to(std::back_inserter(out_),
                   "{}{{\"ph\":\"{}\",\"ts\":{:.3f},\"pid\":{},\"tid\":{},{}}}",
                   out_.empty() ? "" : ",\n", phase, us(trace, ns), traces_[trace].header.rank,
                   r.thread, more);
  }

  void name(size_t trace) {
    const cwyt_header& h = traces_[trace].header;
    fmt::format_to(
        std::back_inserter(out_),
        "{}{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":{}}}}},\n"
        "{{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":{},\"args\":"
        "{{\"sort_index\":{}}}}}",
        out_.empty() ? "" : ",\n", h.rank,
        json_text(fmt::format("rank {} on {}, over {}", h.rank, h.host, h.over)), h.rank, h.rank);
  }

  void name_threads(size_t trace) {
    const cwyt_header& h = traces_[trace].header;
    std::set<uint32_t> named;
    for (const cwyt_record& r : traces_[trace].records) {
      if (!named.insert(r.thread).second) continue;
      const size_t number = named.size() - (h.process != 0 ? named.count(h.process) : 0);
      fmt::format_to(std::back_inserter(out_),
                     ",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":"
                     "{{\"name\":\"{}\"}}}}",
                     h.rank, r.thread,
                     r.thread == h.process ? "main" : fmt::format("thread {}", number));
    }
  }

  static std::string facts(const cwyt_record& r) {
    return fmt::format("\"name\":\"{}\",\"args\":{{\"peer\":{},\"bytes\":{},\"status\":\"{}\"}}",
                       kOperationNames[r.operation], r.peer, r.size, status_name(r.status));
  }

  // A call, or a handler that has returned.
  void slice(size_t trace, const cwyt_record& r) {
    put('X', trace, begin_of(traces_[trace], r), r,
        fmt::format("\"dur\":{:.3f},{}", static_cast<double>(r.duration_ns) / 1e3, facts(r)));
  }
  // A handler that had not returned when the trace ended.
  void instant(size_t trace, const cwyt_record& r) {
    put('i', trace, end_of(trace, r), r, "\"s\":\"t\"," + facts(r));
  }
  // From the post to the last report, beside the threads.
  void completion(size_t trace, const cwyt_record& r) {
    const std::string head =
        fmt::format("\"cat\":\"completion\",\"id\":{},{}", ++number_, facts(r));
    put('b', trace, begin_of(traces_[trace], r), r, head);
    put('e', trace, end_of(trace, r), r, head);
  }

  void event(size_t trace, const cwyt_record& r) {
    if (!is_received(r)) return r.phase == CWYT_DONE ? completion(trace, r) : slice(trace, r);
    std::vector<const cwyt_record*>& open = handlers_[r.thread];
    if (r.phase == CWYT_POSTED) return open.push_back(&r);
    if (!open.empty()) open.pop_back();
    slice(trace, r);
  }

  void arrow(const Message& m) {
    const cwyt_record& sent = traces_[m.from_trace].records[m.sent];
    const cwyt_record& received = traces_[m.to_trace].records[m.received];
    const std::string head =
        fmt::format("\"cat\":\"message\",\"name\":\"message\",\"id\":{}", ++number_);
    put('s', m.from_trace, begin_of(traces_[m.from_trace], sent), sent, head);
    put('f', m.to_trace, begin_of(traces_[m.to_trace], received), received, head + ",\"bp\":\"e\"");
  }

  const std::vector<Trace>& traces_;
  const std::vector<Message> messages_;
  const std::vector<HostClock> clocks_;
  int64_t begin_ = std::numeric_limits<int64_t>::max();
  uint64_t number_ = 0;
  // By thread: messages that were delivered and whose handlers have not returned, innermost last.
  std::map<uint32_t, std::vector<const cwyt_record*>> handlers_;
  std::string out_;
};

}  // namespace

std::string trace_timeline(const std::vector<Trace>& traces, std::string& about) {
  Timeline timeline(traces);
  about = timeline.about();
  return timeline.json();
}

}  // namespace causeway::command
