// Packed documents (tools/embed): those that are part of the core are parsed when it is built. In
// YAML the schema took half of all instructions that a rank starts with.
#include <charconv>
#include <cstring>

#include "config/embedded.h"

namespace causeway {
namespace {

class Reader {
 public:
  Reader(const char* packed, const std::string& source)
      : at_(packed), end_(packed + std::strlen(packed)), source_(source) {}

  Node node() {
    Node out;
    const char kind = *at_++;
    out.where = place();
    switch (kind) {
      case 'l':
        out.kind = Node::Kind::list;
        out.items.resize(number());
        for (Node& item : out.items) item = node();
        return out;
      case 'm':
        out.kind = Node::Kind::map;
        out.entries.resize(number());
        for (Entry& entry : out.entries) {
          entry.key_where = place();
          entry.key = text();
          entry.value = node();
        }
        return out;
      default:
        out.kind = kind == 's' ? Node::Kind::scalar : Node::Kind::null;
        out.text = text();
        out.written_null = kind == 'n' && !out.text.empty();
        return out;
    }
  }

 private:
  size_t number() {
    size_t value = 0;
    at_ = std::from_chars(at_, end_, value).ptr + 1;
    return value;
  }
  Origin place() {
    const int line = static_cast<int>(number());
    return {source_, line, static_cast<int>(number())};
  }
  std::string text() {
    const size_t size = number();
    at_ += size;
    return std::string(at_ - size, size);
  }

  const char* at_;
  const char* const end_;
  const std::string& source_;
};

}  // namespace

Node unpack_document(const char* packed, const std::string& source) {
  return Reader(packed, source).node();
}

}  // namespace causeway
