#include "loader/search.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

namespace causeway {
namespace {

namespace fs = std::filesystem;

void append_once(std::vector<std::string>& files, const fs::path& file) {
  std::error_code ignored;
  const auto same = [&](const std::string& other) { return fs::equivalent(other, file, ignored); };
  if (std::ranges::none_of(files, same)) files.push_back(file.string());
}

bool looks_like_plugin(const fs::path& file) {
  const std::string name = file.filename().string();
  if (file.extension() != ".so") return false;
  for (const PluginKind kind : {PluginKind::conduit, PluginKind::memkind, PluginKind::collective})
    if (name.rfind(std::string(kind_word(kind)) + "_", 0) == 0) return true;
  return false;
}

}  // namespace

std::string plugin_file_name(PluginKind kind, const std::string& name) {
  return fmt::format("{}_{}.so", kind_word(kind), name);
}

std::vector<std::string> files_named(const std::vector<std::string>& directories, PluginKind kind,
                                     const std::string& name) {
  std::vector<std::string> files;
  for (const std::string& directory : directories) {
    std::error_code ignored;
    const fs::path file = fs::path(directory) / plugin_file_name(kind, name);
    // A dangling link counts: saying "cannot be opened" helps more than "not found".
    if (fs::exists(fs::symlink_status(file, ignored))) append_once(files, file);
  }
  return files;
}

std::vector<std::string> all_plugin_files(const std::vector<std::string>& directories) {
  std::vector<std::string> files;
  for (const std::string& directory : directories) {
    std::error_code error;
    std::vector<fs::path> here;
    for (auto entry = fs::directory_iterator(directory, error);
         !error && entry != fs::directory_iterator(); entry.increment(error))
      if (looks_like_plugin(entry->path())) here.push_back(entry->path());
    std::ranges::sort(here);
    for (const fs::path& file : here) append_once(files, file);
  }
  return files;
}

}  // namespace causeway
