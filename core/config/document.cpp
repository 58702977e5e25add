#include "config/document.h"

#include <fmt/core.h>
#include <yaml-cpp/yaml.h>
// Not part of yaml.h:
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/shown_text.h"

namespace causeway {
namespace {

// Aliases can double a document per line, in nodes and in bytes, and the copy that an anchor keeps
// is one more; a configuration is far smaller than this.
constexpr size_t kMostNodes = 20000;
constexpr size_t kMostBytes = 2 << 20;

// Thrown and caught in this file: the position is in the Problem already reported.
struct Abandoned {};

// The null that stands at `mark`, which yaml-cpp reports like an absent value; "" if none does.
// The mark of an absent value may be that of the next key, which may be called null.
std::string written_null(const std::vector<std::string_view>& lines, const YAML::Mark& mark,
                         bool as_key) {
  if (mark.line < 0 || static_cast<size_t>(mark.line) >= lines.size()) return "";
  std::string_view rest = lines[static_cast<size_t>(mark.line)];
  if (mark.column < 0 || static_cast<size_t>(mark.column) > rest.size()) return "";
  rest.remove_prefix(static_cast<size_t>(mark.column));  // columns are bytes
  const std::string_view word = rest.substr(0, rest.find_first_of(" \t\r,:]}#"));
  if (word != "null" && word != "Null" && word != "NULL" && word != "~") return "";
  rest.remove_prefix(word.size());
  const size_t next = rest.find_first_not_of(" \t");
  const bool is_key = next != std::string_view::npos && rest[next] == ':';
  return is_key && !as_key ? "" : std::string(word);
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (true) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const std::string& text, std::string source, Problems& problems)
      : lines_(split_lines(text)), source_(std::move(source)), problems_(problems) {}

  Node take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1)
      abandon(mark, "a second YAML document begins here; one file is one document");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Node node = make(Node::Kind::null, mark);
    const bool as_key =
        !open_.empty() && open_.back().node.kind == Node::Kind::map && !open_.back().has_key;
    node.text = written_null(lines_, mark, as_key);
    node.written_null = !node.text.empty();
    leaf(std::move(node), mark, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) abandon(mark, "this alias stands inside the value it names");
    count(found->second, mark);
    leaf(Node(found->second), mark, YAML::NullAnchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_tag(mark, tag);
    Node node = make(Node::Kind::scalar, mark);
    count_bytes(value.size(), mark);
    node.text = value;
    leaf(std::move(node), mark, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    check_tag(mark, tag);
    open_.push_back({make(Node::Kind::list, mark), mark, anchor});
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    check_tag(mark, tag);
    open_.push_back({make(Node::Kind::map, mark), mark, anchor});
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    YAML::Mark mark;
    YAML::anchor_t anchor = YAML::NullAnchor;
    std::string key{};
    Origin key_where{};
    bool has_key = false;
    bool key_usable = false;
  };

  Origin origin(const YAML::Mark& mark) const { return {source_, mark.line + 1, mark.column + 1}; }

  Node make(Node::Kind kind, const YAML::Mark& mark) {
    if (++nodes_ > kMostNodes) abandon(mark, "this document is too large for a configuration");
    Node node;
    node.kind = kind;
    node.where = origin(mark);
    return node;
  }

  [[noreturn]] void abandon(const YAML::Mark& mark, std::string message) {
    problems_.add(origin(mark), std::move(message));
    throw Abandoned{};
  }

  // Counts a copy before it is made.
  void count(const Node& node, const YAML::Mark& mark) {
    if (++nodes_ > kMostNodes) abandon(mark, "aliases make this document too large");
    count_bytes(node.text.size(), mark);
    for (const Node& item : node.items) count(item, mark);
    for (const Entry& entry : node.entries) {
      count_bytes(entry.key.size(), mark);
      count(entry.value, mark);
    }
  }

  void count_bytes(size_t bytes, const YAML::Mark& mark) {
    bytes_ += bytes;
    if (bytes_ > kMostBytes) abandon(mark, "aliases make this document too large");
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!")
      problems_.add(origin(mark), fmt::format("the tag {} has no meaning here; remove it", tag));
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    leaf(std::move(done.node), done.mark, done.anchor);
  }

  void leaf(Node node, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) {
      count(node, mark);
      anchors_[anchor] = node;
    }
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (Open& parent = open_.back(); parent.node.kind == Node::Kind::list) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.has_key) {
      take_key(parent, node);
    } else {
      parent.has_key = false;
      add_entry(parent, std::move(node));
    }
  }

  void take_key(Open& map, const Node& node) {
    map.has_key = true;
    map.key = node.text;
    map.key_where = node.where;
    // There may well be a conduit named null.
    map.key_usable = node.kind == Node::Kind::scalar || node.text == "null";
    if (!map.key_usable)
      problems_.add(node.where, fmt::format("expected a key, found {}", describe(node)));
  }

  void add_entry(Open& map, Node value) {
    if (!map.key_usable) return;
    if (const Entry* first = map.node.find_entry(map.key); first != nullptr) {
      problems_.add(map.key_where, fmt::format("duplicate key '{}'; the first is at {}", map.key,
                                               first->key_where.str()));
      return;
    }
    map.node.entries.push_back({std::move(map.key), map.key_where, std::move(value)});
  }

  std::vector<std::string_view> lines_;
  std::string source_;
  Problems& problems_;
  Node root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Node> anchors_;
  size_t nodes_ = 0, bytes_ = 0;
  int documents_ = 0;
};

// What yaml-cpp says of a tab in the indentation rarely mentions the tab.
std::string tab_note(const std::string& text) {
  const std::vector<std::string_view> lines = split_lines(text);
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view blank = lines[i].substr(0, lines[i].find_first_not_of(" \t"));
    if (blank.size() < lines[i].size() && blank.find('\t') != std::string_view::npos)
      return fmt::format("; line {} is indented with a tab, use spaces", i + 1);
  }
  return "";
}

// YAML admits no control characters, and yaml-cpp takes one of them for the end of the text, so
// that whatever follows would silently not count.
bool check_characters(const std::string& text, const std::string& source, Problems& problems) {
  Origin where{source, 1, 1};
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_control(c) && c != '\n' && c != '\t' && c != '\r') {
      problems.add(where, fmt::format("not valid YAML: the control character 0x{:02x}; "
                                      "expected UTF-8 text",
                                      byte));
      return false;
    }
    if (c == '\n') {
      ++where.line;
      where.column = 1;
    } else {
      ++where.column;
    }
  }
  return true;
}

std::string explain(const YAML::Exception& e, const std::string& text) {
  std::string out = "not valid YAML: " + e.msg;
  if (e.msg.find("anchor is not defined") != std::string::npos)
    return out + "; a value that begins with * must be quoted";
  std::string note = tab_note(text);
  if (note.empty() && e.msg.find("illegal map value") != std::string::npos)
    note = "; keys stand deeper only below a key without a value";
  return out + note;
}

}  // namespace

Entry* Node::find_entry(const std::string& key) {
  const auto found = std::ranges::find(entries, key, &Entry::key);
  return found == entries.end() ? nullptr : &*found;
}

const Node* Node::find(const std::string& key) const {
  const auto found = std::ranges::find(entries, key, &Entry::key);
  return found == entries.end() ? nullptr : &found->value;
}

std::string describe(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return node.written_null ? "null" : "nothing";
    case Node::Kind::list:
      return "a list";
    case Node::Kind::map:
      return "a map";
    case Node::Kind::scalar:
      break;
  }
  return quoted(node.text);
}

std::string quoted(const std::string& text) {
  return "'" + shown(text) + "'";
}

std::optional<Node> parse_document(const std::string& given, const std::string& source,
                                   Problems& problems) {
  // Without a byte order mark, so that columns count from the same place for everybody.
  // Without line ends behind the last line either: the parser closes a quote there that is open.
  const size_t begin = given.rfind("\xEF\xBB\xBF", 0) == 0 ? 3 : 0;
  const std::string text = given.substr(begin, given.find_last_not_of(" \r\n") + 1 - begin);
  if (!check_characters(text, source, problems)) return std::nullopt;
  std::istringstream stream(text);
  TreeBuilder builder(text, source, problems);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.take_root();
  } catch (const Abandoned&) {
  } catch (const YAML::DeepRecursion& e) {
    problems.add({source, e.mark.line + 1, e.mark.column + 1}, "nested too deeply");
  } catch (const YAML::Exception& e) {
    const bool placed = e.mark.line >= 0;
    problems.add({source, placed ? e.mark.line + 1 : 0, placed ? e.mark.column + 1 : 0},
                 explain(e, text));
  } catch (const std::exception& e) {
    problems.add({source, 0, 0}, fmt::format("not valid YAML: {}", e.what()));
  }
  return std::nullopt;
}

void set_origin(Node& node, const Origin& where) {
  node.where = where;
  for (Node& item : node.items) set_origin(item, where);
  for (Entry& entry : node.entries) {
    entry.key_where = where;
    set_origin(entry.value, where);
  }
}

}  // namespace causeway
