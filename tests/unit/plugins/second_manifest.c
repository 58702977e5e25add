#include <causeway/plugin.h>

CWY_MANIFEST("causeway_manifest: 1\nkind: conduit\nname: second\n");
