#include "device_access.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace mk {
namespace {

class Library {
 public:
  explicit Library(const char* name) : handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
  }
  // Becomes a pointer to the function that it is taken for.
  struct Symbol {
    template <typename Fn>
    operator Fn*() const {
      return reinterpret_cast<Fn*>(address);
    }
    void* address;
  };
  Symbol operator[](const char* name) const {
    void* const found = dlsym(handle_, name);
    if (found == nullptr) throw std::runtime_error(std::string(name) + " is missing");
    return {found};
  }
  template <typename Fn>
  Fn* symbol(const char* name) const {
    return (*this)[name];
  }

 private:
  void* handle_;
};

void require(int result, const char* call) {
  if (result != 0)
    throw std::runtime_error(std::string(call) + " answers " + std::to_string(result));
}

class Cuda final : public Access {
 public:
  Cuda() : lib_("libcuda.so.1") {
    require(lib_.symbol<int(unsigned)>("cuInit")(0), "cuInit");
    require(lib_.symbol<int(int*)>("cuDeviceGetCount")(&count_), "cuDeviceGetCount");
    if (count_ == 0) throw std::runtime_error("no device");
    for (int i = 0; i < count_ && i < kMost; ++i) {
      require(lib_.symbol<int(void**, int)>("cuDevicePrimaryCtxRetain")(&contexts_[i], i),
              "cuDevicePrimaryCtxRetain");
    }
  }
  gex_MK_Create_args_t args(int device) override {
    gex_MK_Create_args_t a;
    std::memset(&a, 0, sizeof a);
    a.gex_class = GEX_MK_CLASS_CUDA_UVA;
    a.gex_args.gex_class_cuda_uva.gex_CUdevice = device;
    return a;
  }
  int devices() override { return count_ < kMost ? count_ : kMost; }
  void* alloc(int device, size_t bytes) override {
    const Current current(*this, device);
    unsigned long long p = 0;
    require(alloc_(&p, bytes), "cuMemAlloc");
    return reinterpret_cast<void*>(p);
  }
  void free(int device, void* memory) override {
    const Current current(*this, device);
    require(free_(reinterpret_cast<unsigned long long>(memory)), "cuMemFree");
  }
  bool pin(int device, void* memory, size_t bytes) override {
    const Current current(*this, device);
    return pin_(memory, bytes, 1) == 0;
  }
  void unpin(int device, void* memory) override {
    const Current current(*this, device);
    require(unpin_(memory), "cuMemHostUnregister");
  }
  void copy_plainly(int device, void* dst, const void* src, size_t bytes) override {
    const Current current(*this, device);
    require(copy_(reinterpret_cast<unsigned long long>(dst),
                  reinterpret_cast<unsigned long long>(src), bytes),
            "cuMemcpy");
  }
  void copy(int device, void* dst, const void* src, size_t bytes) override {
    const Current current(*this, device);
    copy_plainly(device, dst, src, bytes);
    // Within the device, and from memory that is not page-locked, the call returns before the bytes
    // are there (driver API, "API synchronization behavior").
    require(synchronize_(nullptr), "cuStreamSynchronize");
  }
  const char* name() const override { return "cuda"; }

 private:
  static constexpr int kMost = 16;
  struct Current {
    Current(Cuda& owner, int device) : cuda(owner) {
      require(cuda.push_(cuda.contexts_[device]), "cuCtxPushCurrent");
    }
    ~Current() {
      void* ours = nullptr;
      cuda.pop_(&ours);
    }
    Cuda& cuda;
  };
  Library lib_;
  int count_ = 0;
  void* contexts_[kMost] = {};
  int (*push_)(void*) = lib_["cuCtxPushCurrent_v2"];
  int (*pop_)(void**) = lib_["cuCtxPopCurrent_v2"];
  int (*alloc_)(unsigned long long*, size_t) = lib_["cuMemAlloc_v2"];
  int (*free_)(unsigned long long) = lib_["cuMemFree_v2"];
  int (*copy_)(unsigned long long, unsigned long long, size_t) = lib_["cuMemcpy"];
  int (*synchronize_)(void*) = lib_["cuStreamSynchronize"];
  int (*pin_)(void*, size_t, unsigned) = lib_["cuMemHostRegister_v2"];
  int (*unpin_)(void*) = lib_["cuMemHostUnregister"];
};

class Hip final : public Access {
 public:
  Hip() : lib_(any_library()) {
    require(lib_.symbol<int(int*)>("hipGetDeviceCount")(&count_), "hipGetDeviceCount");
    if (count_ == 0) throw std::runtime_error("no device");
  }
  gex_MK_Create_args_t args(int device) override {
    gex_MK_Create_args_t a;
    std::memset(&a, 0, sizeof a);
    a.gex_class = GEX_MK_CLASS_HIP;
    a.gex_args.gex_class_hip.gex_hipDevice = device;
    return a;
  }
  int devices() override { return count_; }
  void* alloc(int device, size_t bytes) override {
    void* p = nullptr;
    require(set_(device), "hipSetDevice");
    require(alloc_(&p, bytes), "hipMalloc");
    return p;
  }
  void free(int device, void* memory) override {
    require(set_(device), "hipSetDevice");
    require(free_(memory), "hipFree");
  }
  bool pin(int device, void* memory, size_t bytes) override {
    require(set_(device), "hipSetDevice");
    return pin_(memory, bytes, 1) == 0;
  }
  void unpin(int device, void* memory) override {
    require(set_(device), "hipSetDevice");
    require(unpin_(memory), "hipHostUnregister");
  }
  int last_error() override { return last_error_(); }
  void copy(int device, void* dst, const void* src, size_t bytes) override {
    constexpr int kDefault = 4;  // by the addresses
    require(set_(device), "hipSetDevice");
    require(copy_(dst, src, bytes, kDefault), "hipMemcpy");
    require(synchronize_(nullptr), "hipStreamSynchronize");  // as for CUDA
  }
  const char* name() const override { return "hip"; }

 private:
  static const char* any_library() {
    for (const char* name : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"})
      if (dlopen(name, RTLD_NOW | RTLD_LOCAL) != nullptr) return name;
    return "libamdhip64.so";
  }
  Library lib_;
  int count_ = 0;
  int (*set_)(int) = lib_["hipSetDevice"];
  int (*alloc_)(void**, size_t) = lib_["hipMalloc"];
  int (*free_)(void*) = lib_["hipFree"];
  int (*copy_)(void*, const void*, size_t, int) = lib_["hipMemcpy"];
  int (*synchronize_)(void*) = lib_["hipStreamSynchronize"];
  int (*pin_)(void*, size_t, unsigned) = lib_["hipHostRegister"];
  int (*unpin_)(void*) = lib_["hipHostUnregister"];
  int (*last_error_)() = lib_["hipGetLastError"];
};

// Structures of Level Zero as far as they are used, with their types' numbers.
struct ZeHeader {
  uint32_t stype;
  const void* next;
};
struct ZeContextDesc : ZeHeader {
  uint32_t flags;
};
struct ZeQueueDesc : ZeHeader {
  uint32_t ordinal, index, flags, mode, priority;
};
struct ZeAllocDesc : ZeHeader {
  uint32_t flags, ordinal;
};

class Ze final : public Access {
 public:
  Ze() : lib_("libze_loader.so.1") {
    require(lib_.symbol<int(uint32_t)>("zeInit")(0), "zeInit");
    uint32_t drivers = 1;
    void* driver = nullptr;
    require(lib_.symbol<int(uint32_t*, void**)>("zeDriverGet")(&drivers, &driver), "zeDriverGet");
    auto* const get = lib_.symbol<int(void*, uint32_t*, void**)>("zeDeviceGet");
    require(get(driver, &count_, nullptr), "zeDeviceGet");
    if (count_ > kMost) count_ = kMost;
    if (count_ == 0) throw std::runtime_error("no device");
    require(get(driver, &count_, devices_), "zeDeviceGet");
    const ZeContextDesc desc{{0xd, nullptr}, 0};
    require(
        lib_.symbol<int(void*, const void*, void**)>("zeContextCreate")(driver, &desc, &context_),
        "zeContextCreate");
    const ZeQueueDesc queue{{0xe, nullptr}, 0, 0, 0, 1 /* synchronous */, 0};
    for (uint32_t i = 0; i < count_; ++i) {
      require(lib_.symbol<int(void*, void*, const void*, void**)>("zeCommandListCreateImmediate")(
                  context_, devices_[i], &queue, &lists_[i]),
              "zeCommandListCreateImmediate");
    }
  }
  // The answers of a lost device are of no interest any more.
  ~Ze() override {
    for (uint32_t i = 0; i < count_; ++i) destroy_list_(lists_[i]);
    destroy_context_(context_);
  }
  gex_MK_Create_args_t args(int device) override {
    gex_MK_Create_args_t a;
    std::memset(&a, 0, sizeof a);
    a.gex_class = GEX_MK_CLASS_ZE;
    a.gex_args.gex_class_ze.gex_zeDevice = devices_[device];
    a.gex_args.gex_class_ze.gex_zeContext = context_;
    a.gex_args.gex_class_ze.gex_zeMemoryOrdinal = 0;
    return a;
  }
  int devices() override { return static_cast<int>(count_); }
  void* alloc(int device, size_t bytes) override {
    const ZeAllocDesc desc{{0x15, nullptr}, 0, 0};
    void* p = nullptr;
    require(alloc_(context_, &desc, bytes, 0, devices_[device], &p), "zeMemAllocDevice");
    return p;
  }
  void free(int, void* memory) override { require(free_(context_, memory), "zeMemFree"); }
  bool pin(int, void*, size_t) override { return false; }
  void unpin(int, void*) override {}
  void copy(int device, void* dst, const void* src, size_t bytes) override {
    require(copy_(lists_[device], dst, src, bytes, nullptr, 0, nullptr),
            "zeCommandListAppendMemoryCopy");
  }
  const char* name() const override { return "ze"; }

 private:
  static constexpr uint32_t kMost = 16;
  Library lib_;
  uint32_t count_ = 0;
  void* devices_[kMost] = {};
  void* lists_[kMost] = {};
  void* context_ = nullptr;
  int (*alloc_)(void*, const void*, size_t, size_t, void*, void**) = lib_["zeMemAllocDevice"];
  int (*free_)(void*, void*) = lib_["zeMemFree"];
  int (*copy_)(void*, void*, const void*, size_t, void*, uint32_t,
               void**) = lib_["zeCommandListAppendMemoryCopy"];
  int (*destroy_list_)(void*) = lib_["zeCommandListDestroy"];
  int (*destroy_context_)(void*) = lib_["zeContextDestroy"];
};

std::unique_ptr<Access> open() {
  const char* const wish = std::getenv("SPEC_MK");
  const std::string which = wish != nullptr ? wish : "cuda";
  if (which == "hip") return std::make_unique<Hip>();
  if (which == "ze") return std::make_unique<Ze>();
  return std::make_unique<Cuda>();
}

}  // namespace

Access& access() {
  static const std::unique_ptr<Access> instance = open();
  return *instance;
}

}  // namespace mk
