// The files of the conduit `trace`, read.
#pragma once

#include <causeway/operations.h>
#include <plugins/conduit/trace/format.h>

#include <array>
#include <string>
#include <vector>

#include "base/error.h"

namespace causeway::command {

// By cwyt_record::operation. NULL where nothing has that number.
inline constexpr auto kOperationNames = [] {
  static_assert(operation_count <= CWYT_EVENTS);
  std::array<const char*, CWYT_OPERATIONS> names{};
  size_t next = 0;
  for_each_operation([&](const auto& operation) { names[next++] = operation.name; });
  names[CWYT_CONNECT] = "connect";
  names[CWYT_DISCONNECT] = "disconnect";
  names[CWYT_PURGE] = "purge";
  names[CWYT_RECEIVED_SHORT] = "received_short";
  names[CWYT_RECEIVED_MEDIUM] = "received_medium";
  names[CWYT_RECEIVED_LONG] = "received_long";
  return names;
}();

struct Trace {
  cwyt_header header{};
  std::vector<cwyt_record> records;  // the oldest first
  uint64_t unfinished = 0;           // places whose writer did not finish
  uint64_t cut = 0;                  // records that the file is too short for
  uint64_t lost = 0;                 // older ones that were overwritten
};

[[noreturn]] void refuse_trace(const std::string& file, const std::string& why);
// Throws Error naming the file where it is no trace. Every record has a name in kOperationNames.
Trace read_trace(const std::string& file);

// A message's record at its receiver.
inline bool is_received(const cwyt_record& record) {
  return record.operation >= CWYT_RECEIVED_SHORT && record.operation <= CWYT_RECEIVED_LONG;
}
// Posts that were accepted; of those that were refused nothing has left the rank.
inline bool is_accepted(const cwyt_record& record) {
  return record.phase == CWYT_POSTED && !is_error(record.status);
}

}  // namespace causeway::command
