// The use that a client makes of a device beside GASNet: allocates, frees, copies and waits,
// through the driver itself. Found at run time, so that the tests build without any driver's
// headers.
#pragma once

#include <gasnet_mk.h>

#include <cstddef>
#include <memory>
#include <string>

namespace mk {

class Access {
 public:
  virtual ~Access() = default;
  // The arguments of gex_MK_Create() for a device.
  virtual gex_MK_Create_args_t args(int device) = 0;
  virtual int devices() = 0;
  virtual void* alloc(int device, size_t bytes) = 0;
  virtual void free(int device, void* memory) = 0;
  // Page-locks host memory, where the driver does that for memory of the caller's.
  virtual bool pin(int device, void* memory, size_t bytes) = 0;
  virtual void unpin(int device, void* memory) = 0;
  // Complete on return.
  virtual void copy(int device, void* dst, const void* src, size_t bytes) = 0;
  // By the driver's plain call and nothing else: complete on return where the driver says so.
  virtual void copy_plainly(int device, void* dst, const void* src, size_t bytes) {
    copy(device, dst, src, bytes);
  }
  // The thread's last error, where the driver keeps one; 0: none.
  virtual int last_error() { return 0; }
  virtual const char* name() const = 0;
};

// The class that SPEC_MK names (cuda, hip, ze; cuda without it). Throws std::runtime_error with the
// reason when this machine does not have it.
Access& access();

}  // namespace mk
