// Packed documents (tools/embed): those that are part of the core are parsed when it is built. In
// YAML the schema took half of all instructions that a rank starts with.
#include "config/embedded.h"

namespace causeway {
namespace {

struct Reader {
  const char* at;
  const std::string& source;

  size_t number() {
    size_t value = 0;  // also where nothing is written
    for (; *at >= '0' && *at <= '9'; ++at) value = value * 10 + static_cast<size_t>(*at - '0');
    ++at;
    return value;
  }
  Origin place() {
    const int line = static_cast<int>(number());
    return {source, line, static_cast<int>(number())};
  }
  std::string text() {
    const size_t size = number();
    at += size;
    return std::string(at - size, size);
  }
  Node node() {
    Node out;
    const char kind = *at++;
    out.where = place();
    if (kind == 'l') {
      out.kind = Node::Kind::list;
      out.items.resize(number());
      for (Node& item : out.items) item = node();
    } else if (kind == 'm') {
      out.kind = Node::Kind::map;
      out.entries.resize(number());
      for (Entry& entry : out.entries) {
        entry.key_where = place();
        entry.key = text();
        entry.value = node();
      }
    } else {
      out.kind = kind == 's' ? Node::Kind::scalar : Node::Kind::null;
      out.text = text();
      out.written_null = kind == 'n' && !out.text.empty();
    }
    return out;
  }
};

}  // namespace

Node unpack_document(const char* packed, const std::string& source) {
  return Reader{packed, source}.node();
}

}  // namespace causeway
