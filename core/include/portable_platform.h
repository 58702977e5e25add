/* portable_platform.h - the old name of gasnet_portable_platform.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <gasnet_portable_platform.h>
