// Where plugin files are looked for.
#pragma once

#include <string>
#include <vector>

#include "loader/loader.h"

namespace causeway {

// "conduit_shm.so"
std::string plugin_file_name(PluginKind kind, const std::string& name);

// Files <kind>_<name>.so of the directories, in path order; a file with two paths is listed once.
std::vector<std::string> files_named(const std::vector<std::string>& directories, PluginKind kind,
                                     const std::string& name);

// Every file of the form <kind>_*.so, in path order and by name within a directory.
std::vector<std::string> all_plugin_files(const std::vector<std::string>& directories);

}  // namespace causeway
