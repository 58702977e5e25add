#include "arguments.h"

#include <CLI/CLI.hpp>

namespace causeway::bench {

Arguments::Arguments(const char* program) : app_(std::make_unique<CLI::App>(program)) {}
Arguments::~Arguments() = default;

Arguments& Arguments::flag(const char* name, bool& value, const char* help) {
  app_->add_flag(name, value, help);
  return *this;
}
Arguments& Arguments::option(const char* name, std::string& value, const char* help) {
  app_->add_option(name, value, help);
  return *this;
}
Arguments& Arguments::option(const char* name, unsigned& value, const char* help) {
  app_->add_option(name, value, help);
  return *this;
}
Arguments& Arguments::option(const char* name, uint64_t& value, const char* help) {
  app_->add_option(name, value, help);
  return *this;
}
Arguments& Arguments::option(const char* name, double& value, const char* help) {
  app_->add_option(name, value, help);
  return *this;
}
Arguments& Arguments::option(const char* name, std::vector<std::string>& values, const char* help) {
  app_->add_option(name, values, help)->delimiter(',');
  return *this;
}
Arguments& Arguments::option(const char* name, std::vector<size_t>& values, const char* help) {
  app_->add_option(name, values, help)->delimiter(',');
  return *this;
}
Arguments& Arguments::one_of(const char* name, std::string& value, std::vector<std::string> words,
                             const char* help) {
  app_->add_option(name, value, help)->check(CLI::IsMember(std::move(words)));
  return *this;
}

std::optional<int> Arguments::parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& e) {
    return app_->exit(e) == 0 ? 0 : 2;
  }
}

}  // namespace causeway::bench
