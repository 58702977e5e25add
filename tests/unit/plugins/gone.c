int causeway_test_gone(void);
__attribute__((visibility("default"))) int causeway_test_gone(void) {
  return 1;
}
