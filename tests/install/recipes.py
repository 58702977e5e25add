#!/usr/bin/env python3
"""Checks the recipes of tools/packages without the tools that read them, and by the tools where they are.

Usage: recipes.py SOURCE BUILD TREE WORK CC
The recipes are programs: they are run here with a stand-in for the names that Spack and EasyBuild give them, and
what they say is compared with the options of this build, the versions that it asks for, and the installed tree.
Would catch: a recipe that is no Python, or uses a name or a parameter that its tool does not have; a part that came
and has no variant, or went and is still asked for; a variant that changes nothing; another version than the
project's; a dependency older than what the build demands; a check after the installation that no tree passes.
"""
import os
import re
import shutil
import subprocess
import sys
import types

source, build, tree, work, cc = (os.path.abspath(path) if os.path.exists(path) else path for path in sys.argv[1:6])
packages = os.path.join(source, "tools", "packages")
# Options for work on the tree, which recipes leave alone, and what IDENTITY_<NAME> says one by one.
FOR_DEVELOPERS = {"WERROR", "SANITIZE", "DEBUG_INFO", "REPRODUCIBLE", "PRECOMPILED_HEADERS", "UNITE", "SPEC_COUNTS", "IDENTITIES"}
# Parts whose needs neither tool has a recipe for.
NEVER_BUILT = {"MAN"}


class Wrong(Exception):
    pass


def expect(condition, message):
    if not condition:
        raise Wrong(message)


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def number(text):
    return [int(word) for word in text.split(".")]


# ---- the project ----
cache = read(build, "CMakeCache.txt")
options = set(re.findall(r"^(\w+):(?:BOOL|STRING)=", cache, re.M))
parts = {name[len("CAUSEWAY_WITH_"):] for name in options if name.startswith("CAUSEWAY_WITH_")}
top = read(source, "CMakeLists.txt")
version = re.search(r"^project\(Causeway VERSION ([\d.]+)", top, re.M).group(1)


def needed():
    """The oldest versions that the build takes, by their name in lower case."""
    oldest = dict(re.findall(r"(pmix|hwloc)>=([\d.]+)", top))
    oldest["cmake"] = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", top).group(1)
    for room in ("plugins/conduit/ofi", "plugins/conduit/ucx", "core/launch"):
        rule = read(source, room, "CMakeLists.txt")
        module, least = re.search(r"causeway_library\(\w+ \w+ (\S+) (\S+)", rule).groups()
        oldest[module] = least
    return oldest


# ---- what Spack gives a recipe ----
class Prefix(str):
    def __getattr__(self, name):
        return Prefix(os.path.join(self, name))


class Executable:
    def __init__(self, path):
        self.path = path

    def __call__(self, *words, output=None, error=None):
        done = subprocess.run([self.path, *words], capture_output=True, text=True, timeout=120, check=False)
        expect(done.returncode == 0, f"{self.path} {' '.join(words)} fails: {done.stdout}{done.stderr}")
        return done.stdout + (done.stderr if error else "")


class Spec:
    """A choice of variants: a bool, or a set of values, for each."""

    def __init__(self, variants):
        self.variants = variants

    def satisfies(self, text):
        return all(self.has(word) for word in text.split())

    def has(self, word):
        flag = re.fullmatch(r"([+~])([\w-]+)", word)
        if flag:
            value = self.variants.get(flag.group(2))
            expect(value is None or isinstance(value, bool), f"'{word}' is asked of a variant of words")
            return value is not None and value == (flag.group(1) == "+")
        name, values = word.split("=")
        expect(name in self.variants, f"'{word}' is asked, and there is no such variant")
        return set(values.split(",")) <= self.variants[name]


class Recorded:
    """The directives of one recipe."""

    def __init__(self):
        self.versions, self.variants, self.dependencies, self.conditions = [], {}, [], []

    def names(self):
        def version(ver, checksum=None, *, sha256=None, branch=None, tag=None, commit=None, preferred=None, deprecated=None):
            self.versions.append(ver)

        def variant(name, default=None, description="", values=None, multi=None, validator=None, when=None, sticky=False):
            expect(description, f"variant {name} has no description")
            expect(name not in self.variants, f"variant {name} is there twice")
            if values is None:
                expect(isinstance(default, bool), f"variant {name} is neither a bool nor has values")
            else:
                expect(multi and set(default.split(",")) <= set(values), f"variant {name}: its default is no value of its own")
            self.variants[name] = (default if values is None else set(default.split(",")), values, when)
            self.conditions.append(when)

        def depends_on(spec, when=None, type=("build", "link"), patches=None):
            expect(set([type] if isinstance(type, str) else type) <= {"build", "link", "run", "test"}, f"{spec}: type {type}")
            match = re.fullmatch(r"([a-z0-9][a-z0-9-]*)(?:@([\d.]+)?:([\d.]+)?)?([+~]\w+)*", spec)
            expect(match, f"'{spec}' is no dependency")
            self.dependencies.append(match.groups()[:2])
            self.conditions.append(when)

        def conflicts(conflict_spec, when=None, msg=None):
            self.conditions.append(when)

        def requires(*requirement_specs, policy="one_of", when=None, msg=None):
            self.conditions.append(when)

        def license(license_identifier, checked_by=None, when=None):  # pylint: disable=redefined-builtin
            expect(license_identifier in read(source, "README.md"), f"the licence is not {license_identifier}")

        class CMakePackage:
            def __init__(self, spec, prefix):
                self.spec, self.prefix = spec, Prefix(prefix)

            @staticmethod
            def define(variable, value):
                return f"-D{variable}={('ON' if value else 'OFF') if isinstance(value, bool) else value}"

            def define_from_variant(self, variable, variant=None):
                value = self.spec.variants.get(variant)
                expect(variant in recorded.variants, f"{variable} is defined from {variant}, which is no variant")
                return "" if value is None else self.define(variable, value)

        recorded = self
        return {
            **{f.__name__: f for f in (version, variant, depends_on, conflicts, requires, license, CMakePackage)},
            "join_path": os.path.join,
            "which": lambda name, required=False: Executable(shutil.which(name)),
        }

    def choices(self):
        """The default, then with each variant, or each of its words, the other way."""
        default = {name: value for name, (value, _, _) in self.variants.items()}
        yield "default", default
        for name, (value, values, when) in self.variants.items():
            if values is None:
                other = {**default, name: not value}
                gone = [n for n, (_, _, c) in self.variants.items() if c and not Spec(other).satisfies(c)]
                yield f"{name}={not value}", {n: v for n, v in other.items() if n not in gone}
            else:
                for word in values:
                    if word == "none":
                        yield f"{name}=none", {**default, name: {"none"}}
                    else:
                        yield f"{name} without {word}", {**default, name: value - {word}}


def check_spack(text):
    recorded = Recorded()
    module = types.ModuleType("spack.package")
    module.__dict__.update(recorded.names())
    sys.modules.update({"spack": types.ModuleType("spack"), "spack.package": module})
    space = {}
    exec(compile(text, "package.py", "exec"), space)  # pylint: disable=exec-used
    recipe = space["Causeway"]
    expect(recorded.versions == [version], f"the recipe's versions are {recorded.versions}, the project's {version}")
    expect(recipe.url.endswith(f"/causeway-{version}.tar.gz"), f"the archive is {recipe.url}")
    expect(recipe.manual_download, "nothing says that the archive is brought by the user")
    default = Spec({name: value for name, (value, _, _) in recorded.variants.items()})
    for condition in filter(None, recorded.conditions):
        for word in condition.split():
            expect(word[1:] in recorded.variants or "=" in word, f"'{condition}' asks for no variant")
        default.satisfies(condition)
    oldest = needed()
    known = {name: least for name, least in recorded.dependencies if least}
    for name, least in oldest.items():
        expect(name in known, f"there is no dependency on {name}")
        expect(number(known[name]) == number(least), f"{name} {known[name]} is asked for, and the build takes {least}")

    seen, first = {}, None
    for what, choice in recorded.choices():
        args = [arg for arg in recipe(Spec(choice), tree).cmake_args() if arg]
        for arg in args:
            match = re.fullmatch(r"-D(\w+)=(ON|OFF)", arg)
            expect(match and match.group(1) in options, f"{what}: the build has no option for {arg}")
            seen.setdefault(match.group(1), set()).add(match.group(2))
        first = first or args
        needless = what.endswith("none") and not [v for v in recorded.variants[what.split("=")[0]][0] if v != "none"]
        expect(what == "default" or args != first or needless, f"{what} changes nothing")
    for name in options:
        if name.startswith("CAUSEWAY_") and name[len("CAUSEWAY_"):] not in FOR_DEVELOPERS:
            part = name[len("CAUSEWAY_WITH_"):]
            values = {"OFF"} if part in NEVER_BUILT else {"ON", "OFF"}
            expect(seen.get(name) == values, f"the variants make {name} {seen.get(name, 'nothing')}, not {values}")
    for path in recipe.sanity_check_is_file:
        expect(os.path.isfile(os.path.join(tree, path)), f"the installed tree has no file {path}")
    for path in recipe.sanity_check_is_dir:
        expect(os.path.isdir(os.path.join(tree, path)), f"the installed tree has no folder {path}")
    return recipe, default


def run_spack_test(recipe, spec):
    folder = os.path.join(work, "spack-test")
    os.makedirs(folder)
    os.chdir(folder)
    os.environ["CC"] = cc
    recipe(spec, tree).test_ten_lines()
    os.chdir(work)


# ---- what EasyBuild gives a recipe ----
PARAMETERS = set("""easyblock name version homepage description toolchain toolchainopts sources builddependencies dependencies
  osdependencies configopts build_type sanity_check_paths sanity_check_commands moduleclass""".split())
CONSTANTS = {"SHLIB_EXT": "so", "OS_PKG_IBVERBS_DEV": ("libibverbs-dev", "libibverbs-devel", "rdma-core-devel"), "SYSTEM": {}}


def check_easybuild(text, file_name, run=False):
    space = dict(CONSTANTS)
    exec(compile(text, file_name, "exec"), space)  # pylint: disable=exec-used
    said = {name: value for name, value in space.items() if name not in CONSTANTS and not name.startswith(("__", "local_"))}
    expect(set(said) <= PARAMETERS, f"unknown to EasyBuild: {set(said) - PARAMETERS}")
    missing = {"easyblock", "name", "version", "homepage", "description", "toolchain", "sources", "moduleclass"} - set(said)
    expect(not missing, f"missing: {missing}")
    expect(said["version"] == version, f"the recipe is of {said['version']}, the project {version}")
    toolchain = said["toolchain"]
    expect(file_name == f"Causeway-{version}-{toolchain['name']}-{toolchain['version']}.eb", f"the file's name is {file_name}")
    expect(said["sources"] == ["%(namelower)s-%(version)s.tar.gz"], f"the archive is {said['sources']}")
    chosen = {}
    for word in said["configopts"].split():
        match = re.fullmatch(r"-D(\w+)=(ON|OFF|none)", word)
        expect(match and match.group(1) in options, f"the build has no option for {word}")
        chosen[match.group(1)] = match.group(2)
    for part in parts:
        if not part.startswith("IDENTITY_"):
            wanted = "OFF" if part in NEVER_BUILT else "ON"
            expect(chosen.get("CAUSEWAY_WITH_" + part) == wanted, f"CAUSEWAY_WITH_{part} is {chosen.get('CAUSEWAY_WITH_' + part, 'left out')}, not {wanted}")
    given = {name.lower(): had for name, had, *_ in said["dependencies"] + said["builddependencies"]}
    for name, least in needed().items():
        expect(name in given and number(given[name]) >= number(least), f"{name} is {given.get(name)}, and the build takes {least}")
    for path in said["sanity_check_paths"]["files"] + said["sanity_check_paths"]["dirs"]:
        network = re.search(r"conduit_(ofi|ucx|verbs)\.so$", path)
        expect(network or os.path.exists(os.path.join(tree, path)), f"the installed tree has no {path}")
    for command in said["sanity_check_commands"] if run else []:
        environment = {**os.environ, "PATH": os.path.join(tree, "bin") + ":" + os.environ["PATH"]}
        done = subprocess.run(command.replace("%(installdir)s", tree), shell=True, env=environment, timeout=120,
                              capture_output=True, text=True, check=False)
        expect(done.returncode == 0, f"'{command}' fails in the installed tree: {done.stdout}{done.stderr}")


# ---- the archive, and the image's label ----
def check_rest():
    readme = read(packages, "README.md")
    command = re.search(r"^ *(git archive .*)$", readme, re.M).group(1)
    # A bare machine with an archive of the sources has no git.
    clone = shutil.which("git") and subprocess.run(["git", "-C", source, "rev-parse", "--absolute-git-dir"],
                                                   capture_output=True, text=True, check=False)
    if clone and clone.returncode == 0:
        subprocess.run(command, shell=True, check=True, cwd=work, env={**os.environ, "GIT_DIR": clone.stdout.strip()})
        listed = subprocess.run(["tar", "-tzf", f"causeway-{version}.tar.gz"], cwd=work, capture_output=True, text=True, check=True)
        expect(f"causeway-{version}/CMakeLists.txt" in listed.stdout.split("\n"), f"'{command}' makes another archive")
    expect(f'image.version="{version}"' in read(packages, "Containerfile"), f"the image's label is not {version}")


def refused(check, text, old, new):
    """The checks themselves: a recipe with this mistake is refused."""
    expect(old in text, f"the recipe has no '{old}' any more")
    try:
        check(text.replace(old, new))
    except (Wrong, NameError, TypeError, SyntaxError):
        return
    raise Wrong(f"nobody objects to '{new}' in place of '{old}'")


def run_tools(easyconfig):
    """What the tools themselves say, where they are."""
    trials = {
        "spack": ["spack repo add --scope user " + os.path.join(packages, "spack"), "spack info causeway"],
        "eb": ["eb --check-style " + easyconfig, "eb --dry-run " + easyconfig],
    }
    environment = {**os.environ, "SPACK_USER_CONFIG_PATH": os.path.join(work, "spack"), "SPACK_DISABLE_LOCAL_CONFIG": ""}
    for tool, commands in trials.items():
        if not shutil.which(tool):
            print(f"{tool} is not here: its recipe was checked without it")
            continue
        for command in commands:
            done = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True, timeout=200, check=False)
            expect(done.returncode == 0, f"{command} fails: {done.stdout}{done.stderr}")


def main():
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    for name in [name for name in os.environ if name.startswith("CAUSEWAY_")]:
        del os.environ[name]
    text = read(packages, "spack", "packages", "causeway", "package.py")
    run_spack_test(*check_spack(text))
    for old, new in (("    depends_on(", "    depend_on("), ("CAUSEWAY_WITH_HIER", "CAUSEWAY_WITH_HEIR"), ('"shm", ', ""),
                     ("with open(", "with open)"), (f'version("{version}")', 'version("9.9.9")'), ("pmix@4.2", "pmix@3.2"),
                     ('when="conduits=ofi"', 'when="conduit=ofi"'), ('    version(', '    version(sha=1, ver=')):
        refused(check_spack, text, old, new)

    easyconfigs = [name for name in os.listdir(os.path.join(packages, "easybuild")) if name.endswith(".eb")]
    expect(len(easyconfigs) == 1, f"easyconfigs: {easyconfigs}")
    text = read(packages, "easybuild", easyconfigs[0])
    check_easybuild(text, easyconfigs[0], run=True)
    for old, new in (("sources = ", "source = "), ("'SHM', ", ""), ("'SHM', ", "'SHM', 'SHN', "), ("version = '", "version = '9"),
                     ("'hwloc', '2.10.0'", "'hwloc', '2.4.1'"), ("bin/causeway'", "bin/causewey'"), ("SHLIB_EXT", "SHLIB_EXTENSION")):
        refused(lambda wrong: check_easybuild(wrong, easyconfigs[0]), text, old, new)
    check_rest()
    run_tools(os.path.join(packages, "easybuild", easyconfigs[0]))
    print("recipes: all is well")


try:
    main()
except Wrong as wrong:
    sys.exit(f"recipes: {wrong}")
