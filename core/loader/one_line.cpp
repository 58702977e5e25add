#include "loader/one_line.h"

#include <cstddef>

namespace causeway {

std::string reason(const cwy_err& err, cwy_status status) {
  std::string text = text_of(err);
  if (!text.empty()) return text;
  return is_status(status) ? status_name(status) : "the unknown status " + std::to_string(status);
}

void write_error(cwy_err* err, cwy_status status, std::string_view text) {
  if (err == nullptr || err->head.struct_size <= offsetof(cwy_err, text)) return;
  const size_t room =
      std::min<size_t>(err->head.struct_size - offsetof(cwy_err, text), sizeof err->text);
  const std::string line = one_line(text, room - 1);
  err->status = status;
  std::memcpy(err->text, line.c_str(), std::min(line.size() + 1, room));
  err->text[room - 1] = '\0';
}

cwy_status checked_answer(cwy_status status, bool has_object, cwy_err& err, const char* call) {
  if (status == CWY_OK && has_object) return status;
  std::string text = std::string(call) + " answered ";
  if (status != CWY_OK) {
    if (text_of(err).empty()) write_error(&err, status, text + reason(err, status));
    return status;
  }
  write_error(&err, CWY_ERR_INVALID, text + "OK but set no object");
  return CWY_ERR_INVALID;
}

}  // namespace causeway
