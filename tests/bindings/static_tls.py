"""Loads the library into a process that has little static thread-local storage left.

Usage: static_tls.py EATER LIBRARY WORK_DIR

The dynamic linker keeps a small reserve of such storage for libraries that are loaded after the
start. Copies of EATER take all of it but 512 bytes; then LIBRARY has to load, and a second thread
has to come into it.

Catches: thread-local data that grows beyond 512 bytes ("cannot allocate memory in static TLS
block"), which only programs notice that are not linked with the library.
"""

import ctypes
import os
import shutil
import subprocess
import sys
import threading

EATER_BYTES = 128
LEFT_BYTES = 512


def eat(eater, work, count):
    """Loads up to `count` copies; the number that fitted."""
    for i in range(count):
        copy = os.path.join(work, f"eater{i}.so")
        if not os.path.exists(copy):
            shutil.copy(eater, copy)
        try:
            ctypes.CDLL(copy)
        except OSError as error:
            if "static TLS" not in str(error):
                raise
            return i
    return count


def load(eater, library, work, count):
    if eat(eater, work, count) != count:
        sys.exit(f"static_tls: {count} copies fitted before, and not now")
    lib = ctypes.CDLL(library)
    seen = []
    worker = threading.Thread(target=lambda: seen.append(lib.gex_AM_MaxArgs()))
    worker.start()
    worker.join()
    if seen != [16]:
        sys.exit(f"static_tls: a second thread got {seen} for gex_AM_MaxArgs()")


def main():
    eater, library, work = sys.argv[1:4]
    if len(sys.argv) == 5:
        load(eater, library, work, int(sys.argv[4]))
        return
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    most = 256
    fitted = eat(eater, work, most)
    if fitted == most:
        sys.exit(f"static_tls: {most} copies fit, so nothing is scarce and nothing was tested")
    # A copy that fails may leave less behind than it asked for: the load runs in a fresh process.
    count = fitted - LEFT_BYTES // EATER_BYTES
    if count < 0:
        sys.exit(f"static_tls: only {fitted} copies fit, so {LEFT_BYTES} bytes are not there")
    done = subprocess.run([sys.executable, __file__, eater, library, work, str(count)], timeout=60)
    if done.returncode == 0:
        print(f"static_tls: loaded with {LEFT_BYTES} bytes left of {fitted * EATER_BYTES}")
    sys.exit(done.returncode)


main()
