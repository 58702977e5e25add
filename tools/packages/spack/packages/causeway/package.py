# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe for Causeway, for Spack 0.23 and 1.x; ../../../README.md says how it is used."""

import os
import re

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:  # before Spack 1.0 the next line has it
    pass
from spack.package import *

# Words of the variants, and the parts of the build (CAUSEWAY_WITH_<PART>) that they stand for: the same in capitals.
CONDUITS = ("shm", "eth", "ofi", "ucx", "verbs", "null", "trace", "chaos", "failover")
MEMKINDS = ("cuda", "hip", "ze")
IDENTITIES = ("smp", "udp", "mpi", "ibv", "ofi", "ucx", "tools", "gpi2")


class Causeway(CMakePackage):
    """GASNet-EX, GASNet-1 and GASPI over transports chosen at run time: one library, and a plugin for each
    network and each kind of device memory."""

    # There is no address to fetch from: the archive lies where spack is called, or in a mirror.
    homepage = "https://localhost/causeway"
    url = f"file://{os.getcwd()}/causeway-0.1.0.tar.gz"
    manual_download = True

    license("BSD-3-Clause")

    # The archive is made from a clone, so its checksum is the user's: spack install --no-checksum.
    version("0.1.0")

    variant(
        "conduits",
        default=",".join(CONDUITS),
        values=("none",) + CONDUITS,
        multi=True,
        description="Transports beside the one within a process",
    )
    variant(
        "memkinds",
        default=",".join(MEMKINDS),
        values=("none",) + MEMKINDS,
        multi=True,
        description="Kinds of device memory; drivers are opened at run time, so none is needed here",
    )
    variant(
        "identities",
        default=",".join(IDENTITIES),
        values=("none",) + IDENTITIES,
        multi=True,
        description="Names of GASNet's conduits and tools and of GPI-2 to install; none beside their packages",
    )
    variant("hier", default=True, description="Collective algorithms of teams that share memory")
    variant("tls", default=True, description="Encryption of what launchers say between hosts")
    variant("gaspi", default=True, description="GASPI 17.1")
    variant("fortran", default=True, when="+gaspi", description="GASPI's Fortran module")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11@2.1:", type="build")
    depends_on("fmt@9.1:")
    depends_on("yaml-cpp@0.7:")
    depends_on("pmix@4.2:")
    depends_on("hwloc@2.5:")
    depends_on("libfabric@1.17:", when="conduits=ofi")
    depends_on("ucx@1.13:", when="conduits=ucx")
    depends_on("rdma-core@44:", when="conduits=verbs")
    depends_on("openssl@3:", when="+tls")

    requires("platform=linux", msg="Causeway is for Linux")
    requires("target=x86_64:", msg="Causeway has been tried on x86-64 only")
    requires("%gcc", when="+fortran", msg="GASPI's Fortran module has been tried with gfortran only")
    conflicts("%gcc@:11", msg="Causeway is C++20: it has been tried with GCC 12 and later")

    sanity_check_is_file = [
        join_path("bin", "causeway"),
        join_path("include", "gasnetex.h"),
        join_path("include", "causeway", "conduit.h"),
    ]
    sanity_check_is_dir = [join_path("share", "causeway", "configs")]

    def cmake_args(self):
        spec = self.spec
        parts = {word.upper(): spec.satisfies(f"conduits={word}") for word in CONDUITS}
        parts.update({word.upper(): spec.satisfies(f"memkinds={word}") for word in MEMKINDS})
        for word in IDENTITIES:
            parts["IDENTITY_" + word.upper()] = spec.satisfies(f"identities={word}")
        parts["IDENTITY_GPI2"] = spec.satisfies("+gaspi identities=gpi2")
        args = [self.define("CAUSEWAY_WITH_" + part, built) for part, built in parts.items()]
        args += [
            self.define_from_variant("CAUSEWAY_WITH_HIER", "hier"),
            self.define_from_variant("CAUSEWAY_WITH_TLS", "tls"),
            self.define_from_variant("CAUSEWAY_WITH_GASPI", "gaspi"),
            self.define("CAUSEWAY_WITH_FORTRAN", spec.satisfies("+fortran")),
            # Manual pages of sections 5 and 7 need lowdown, for which Spack has no recipe.
            self.define("CAUSEWAY_WITH_MAN", False),
            self.define("BUILD_TESTING", False),
        ]
        return args

    def test_ten_lines(self):
        """the program of the README is compiled, and each rank hears from its neighbor"""
        with open(join_path(self.prefix.share.doc.causeway, "README.md")) as text:
            program = re.search(r"^```c\n(.*?)^```", text.read(), re.S | re.M).group(1)
        with open("hello.c", "w") as source:
            source.write(program)
        folders = (self.prefix.lib, self.prefix.lib64)
        library = next(folder for folder in folders if os.path.exists(join_path(folder, "libcauseway.so")))
        cc = which(os.environ["CC"], required=True)
        cc("hello.c", f"-I{self.prefix.include}", f"-L{library}", f"-Wl,-rpath,{library}", "-lcauseway", "-o", "hello")
        causeway = which(self.prefix.bin.causeway, required=True)
        told = causeway("run", "-n", "2", "./hello", output=str.split, error=str.split)
        for line in ("rank 0 heard from rank 1", "rank 1 heard from rank 0"):
            if line not in told:
                raise RuntimeError(f"'{line}' is missing from:\n{told}")
