// Objects of this library with static storage are never destroyed: threads of the program may be in
// a call while another one runs exit(). They hold memory alone. g++ has no option for that: it has
// destructors registered by this function of the C++ ABI (Itanium, 3.3.6.3), which the library's
// own calls find here and not in libc. atexit() ends here as well, on_exit() does not.
extern "C" [[gnu::visibility("hidden")]] int __cxa_atexit(void (*)(void*), void*, void*) noexcept {
  return 0;
}
