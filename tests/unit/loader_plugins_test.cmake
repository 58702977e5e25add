# An allocation no machine can serve is part of the test: the sanitizer shall answer NULL as well.
set_property(TEST unit.loader_plugins_test APPEND PROPERTY ENVIRONMENT
  ASAN_OPTIONS=allocator_may_return_null=1 TSAN_OPTIONS=allocator_may_return_null=1)
add_dependencies(unit_loader_plugins_test conduit_null memkind_host)
