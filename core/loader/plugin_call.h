// Cold calls into plugins. A plugin may throw out of such a call, end the process in it, or never
// return, and no status tells of that: here it becomes a line that names plugin and call.
#pragma once

#include <causeway/plugin.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "loader/one_line.h"

namespace causeway {

// As messages name a plugin: "conduit eth". The name outlives the call.
struct PluginName {
  const char* kind;  // a literal
  std::string_view name;
  std::string text() const;
};

// A function object that is called before it ends.
class CallRef {
 public:
  template <class F>
  CallRef(const F& f)
      : object_(&f),
        run_([](const void* o) -> cwy_status { return (*static_cast<const F*>(o))(); }) {}
  cwy_status operator()() const { return run_(object_); }

 private:
  const void* object_;
  cwy_status (*run_)(const void*);
};

// The end of a call that lasts (PluginWatch). Memory may be so much that a call takes minutes.
enum class Lasting { ends, is_told };

// Makes the call and answers its status. `call`: a literal. Error with INVALID where an exception
// comes out of it. A process that the call ends by exit() says so, and its status is not 0. Any
// thread; calls nest.
cwy_status plugin_call(const PluginName& whose, const char* call, CallRef made,
                       Lasting lasting = Lasting::ends);

// The same for a call that makes an object: OK without one is INVALID, with a text
// (checked_answer).
template <class T>
cwy_status plugin_object(const PluginName& whose, const char* call, T* const& object, cwy_err& err,
                         CallRef made, Lasting lasting = Lasting::ends) {
  return checked_answer(plugin_call(whose, call, made, lasting), object, err, call);
}

// Ends the process where the calling thread, which exits with that status, is inside such a call.
void end_if_in_plugin(int status);

// While it lives, a call that lasts is told of, and after `limit_ns` it ends the process: a plugin
// that hangs in a start would keep all ranks waiting, for nobody. The limit counts while the
// process runs, in steps of an eighth or a second. A thread watches, asleep where no calls are
// made; where none can be had, nothing does. A crash in a call is told of, too, where the program
// has no handler and `may_catch` allows one, until name_crashes(false). One at a time.
class PluginWatch {
 public:
  explicit PluginWatch(
      uint64_t limit_ns, bool (*may_catch)(int) = [](int) { return true; });
  static void name_crashes(bool wanted, bool (*may_catch)(int) = nullptr);
  ~PluginWatch();
  PluginWatch(const PluginWatch&) = delete;
  PluginWatch& operator=(const PluginWatch&) = delete;
};

}  // namespace causeway
