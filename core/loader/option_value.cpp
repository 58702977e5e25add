#include "loader/option_value.h"

#include <algorithm>

#include "base/error.h"
#include "config/units.h"
#include "fmt/ranges.h"
#include "loader/one_line.h"

namespace causeway {
namespace {

bool is_ordered(const std::string& type) {
  return type == "int" || type == "size" || type == "time";
}

OptionValue parse_unbounded(const OptionSchema& schema, const std::string& text) {
  OptionValue value;
  value.text = text;
  const std::string line = one_line(text, 80);  // which messages have
  if (line != text && schema.type != "string" && schema.type != "enum")
    throw Error(CWY_ERR_INVALID, "'{}' is no {}", line, schema.type);
  if (schema.type == "int") {
    value.integer = parse_integer(line);
  } else if (schema.type == "bool") {
    value.flag = parse_bool(line);
  } else if (schema.type == "size") {
    value.number = parse_size(line);
  } else if (schema.type == "time") {
    value.number = parse_time_ns(line);
  } else if (schema.type == "enum") {
    if (std::ranges::find(schema.choices, text) == schema.choices.end())
      throw Error(CWY_ERR_INVALID, "'{}' is not one of {}{}", line, fmt::join(schema.choices, ", "),
                  meant_hint(text, schema.choices));
  }
  return value;
}

// Negative, zero or positive as a is below, equal to or above b.
int compare(const OptionSchema& schema, const OptionValue& a, const OptionValue& b) {
  if (schema.type == "int") return a.integer < b.integer ? -1 : a.integer > b.integer;
  return a.number < b.number ? -1 : a.number > b.number;
}

}  // namespace

OptionValue parse_option_value(const OptionSchema& schema, const std::string& text) {
  OptionValue value = parse_unbounded(schema, text);
  if (!schema.min_text.empty() &&
      compare(schema, value, parse_unbounded(schema, schema.min_text)) < 0)
    throw Error(CWY_ERR_INVALID, "'{}' is below the minimum, {}", text, schema.min_text);
  if (!schema.max_text.empty() &&
      compare(schema, value, parse_unbounded(schema, schema.max_text)) > 0)
    throw Error(CWY_ERR_INVALID, "'{}' is above the maximum, {}", text, schema.max_text);
  return value;
}

std::string natural_default(const OptionSchema& schema) {
  if (schema.type == "enum") return schema.choices.empty() ? std::string() : schema.choices.front();
  if (schema.type == "bool") return "false";
  if (is_ordered(schema.type)) {
    if (!schema.min_text.empty()) return schema.min_text;
    return schema.type == "time" ? "0s" : "0";
  }
  return {};
}

void check_option_schema(const OptionSchema& schema) {
  static const std::vector<std::string> types{"string", "int", "bool", "size", "time", "enum"};
  if (std::ranges::find(types, schema.type) == types.end())
    throw Error(CWY_ERR_INVALID, "type '{}' is not one of {}", schema.type, fmt::join(types, ", "));
  if ((schema.type == "enum") != !schema.choices.empty())
    throw Error(CWY_ERR_INVALID, "'choices' belong to type enum, and enum needs them");
  const bool bounded = !schema.min_text.empty() || !schema.max_text.empty();
  if (bounded && !is_ordered(schema.type))
    throw Error(CWY_ERR_INVALID, "'min' and 'max' belong to types int, size and time");
  try {
    if (!schema.min_text.empty()) parse_unbounded(schema, schema.min_text);
    if (!schema.max_text.empty()) parse_unbounded(schema, schema.max_text);
    parse_option_value(schema, schema.default_text);
  } catch (const Error& error) {
    throw Error(CWY_ERR_INVALID, "its default or bounds: {}", error.text());
  }
}

}  // namespace causeway
