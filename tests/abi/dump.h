// Prints the layout of the frozen interfaces: one line per structure, member and constant.
#pragma once

#include <cxxabi.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <typeinfo>

namespace causeway::abi {

inline std::string type_name(const std::type_info& type) {
  int status = 0;
  char* name = ::abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string text = status == 0 && name != nullptr ? name : type.name();
  std::free(name);
  return text;
}

// Members in order of declaration. A hole between two, or behind the last, is a member this list
// forgot or padding the compiler chose; the frozen interface has neither.
class StructDump {
 public:
  StructDump(const char* name, size_t size, size_t align) : name_(name), size_(size) {
    std::printf("struct %s size %zu align %zu\n", name, size, align);
  }
  ~StructDump() { expect(size_, "its end"); }
  StructDump(const StructDump&) = delete;
  StructDump& operator=(const StructDump&) = delete;

  void member(const char* name, size_t offset, size_t size, const std::type_info& type) {
    expect(offset, name);
    std::printf("  %4zu %4zu %s: %s\n", offset, size, name, type_name(type).c_str());
    end_ = offset + size;
  }

 private:
  void expect(size_t offset, const char* what) const {
    if (offset == end_) return;
    std::printf("HOLE in %s before %s: bytes %zu to %zu belong to no listed member\n", name_, what,
                end_, offset);
  }
  const char* name_;
  size_t size_;
  size_t end_ = 0;
};

void dump_plugin();
void dump_conduit();
void dump_memkind();
void dump_collective();

}  // namespace causeway::abi

// offsetof and the spelling of a name need the preprocessor.
#define ABI_STRUCT(T) \
  using Dumped = T;   \
  ::causeway::abi::StructDump dump(#T, sizeof(T), alignof(T))
#define ABI_MEMBER(m) \
  dump.member(#m, offsetof(Dumped, m), sizeof(Dumped::m), typeid(decltype(Dumped::m)))
#define ABI_CONSTANT(c) std::printf("constant %s %llu\n", #c, static_cast<unsigned long long>(c))
#define ABI_STATUS(c) std::printf("constant %s %d\n", #c, static_cast<int>(c))
#define ABI_TYPE(t) std::printf("type %s: %s\n", #t, ::causeway::abi::type_name(typeid(t)).c_str())
#define ABI_NAME(n) std::printf("name %s %s\n", #n, n)
