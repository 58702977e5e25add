// The arguments of a measuring program. The parser's header takes ten times as long to compile as
// most of these programs, so that one source alone includes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace causeway::bench {

class Arguments {
 public:
  explicit Arguments(const char* program);
  ~Arguments();

  // Values live as long as this object. Lists are separated by commas.
  Arguments& flag(const char* name, bool& value, const char* help);
  Arguments& option(const char* name, std::string& value, const char* help);
  Arguments& option(const char* name, unsigned& value, const char* help);
  Arguments& option(const char* name, uint64_t& value, const char* help);
  Arguments& option(const char* name, double& value, const char* help);
  Arguments& option(const char* name, std::vector<std::string>& values, const char* help);
  Arguments& option(const char* name, std::vector<size_t>& values, const char* help);
  Arguments& one_of(const char* name, std::string& value, std::vector<std::string> words,
                    const char* help);

  // The status to end with, when there is nothing to measure.
  std::optional<int> parse(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace causeway::bench
