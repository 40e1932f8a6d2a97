#!/usr/bin/env python3
"""Writes mutants of kernels: one operator, comparison, index, component or bound changed in the GLSL of each.

    tools/mutants.py FOLDER [--set values|windows|all] [--count N] [--seed S] [--only TEXT] [--again FOLDER]

Every mutant is a folder NNNN with its compiled kernels, `cases` (lines that dispatch one of them, shuffled; of devices
without native storage of narrow types in `cases-on-words`) and `change` (what was changed). tools/mutants.sh runs the cases. A line is changed only where it is code of a module that some case
dispatches, so that what only HLSL or no type at all compiles is left alone. A mutant counts unless

  - it is no GLSL,
  - all of its modules are, optimized, those of the original,
  - tests/data/equivalent_mutants.txt says why it computes the same. An entry that no line fits any more is an error.

The kernels' compiler and generated headers are those of build/linux-release, and so is the program that lists cases with
their pipelines, unless --program names a command, such as one with another driver, whose pipelines others may be. --again writes those mutants anew that did not notice in another FOLDER, with the cases of now.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNELS = ROOT / "kernels"
GENERATED = ROOT / "build/linux-release/kernels/generated"
TOOLS = ROOT / "build/deps/bin"
EQUIVALENT = ROOT / "tests/data/equivalent_mutants.txt"

SETS = {
    "values": ("common", "elementwise", "indexing", "movement", "quantize", "random", "reduce", "scan", "softmax", "sort"),
    "windows": ("attention", "matrix", "normalization", "optimizer", "pooling", "recurrent", "resample", "roi", "window",
                "winograd"),
}
SETS["all"] = SETS["values"] + SETS["windows"]
CHANGES = [
    (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " + "), (r" / ", " * "), (r" % ", " / "), (r" < ", " <= "),
    (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "), (r" && ", " || "),
    (r" \|\| ", " && "), (r" << ", " >> "), (r" >> ", " << "), (r"\b0u\b", "1u"), (r"\b1u\b", "2u"),
    (r"\b0\.0\b", "1.0"), (r"\b1\.0\b", "2.0"), (r"\.x\b", ".y"), (r"\.y\b", ".x"),
]  # fmt: skip
TRIED = 30  # modules compiled to find those of a mutant
TRIED_PIPELINES = 5  # optimized to find those of a module
FUNCTION = re.compile(r"^[A-Za-z_]\w* (\w+)\([^;]*\) \{")
LOOP = re.compile(r"\s*(\[\[\w+\]\] )?(for|while) \(")
MARK = re.compile(r"\bMARK_(\d+)_(\d+)\b")


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True)


def output(*command):
    result = run(*command)
    if result.returncode:
        sys.exit(f"{' '.join(str(c) for c in command)}\n{result.stdout}{result.stderr}")
    return result.stdout


class Module:
    def __init__(self, kernel, kind):
        self.name = kernel["name"] + (f".{kind}" if kind else "")
        self.source = kernel["source"]
        self.defines = [f"-D{define}" for define in kernel["defines"]] + ([f"-DT={kind}"] if kind else [])
        self.pipelines = {}  # specialization -> numbers of cases

    def compile(self, tree, target):
        return run(TOOLS / "glslang", "-V", "--quiet", "--target-env", "vulkan1.2", "-o", target, tree / self.source,
                   f"-I{GENERATED}", f"-I{tree}", *self.defines).returncode == 0  # fmt: skip


def readManifest():
    kernels = []
    for line in (KERNELS / "manifest.txt").read_text().splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "kernel":
            kernels.append({"name": words[1], "types": [None], "defines": []})
        elif words[0] == "source":
            kernels[-1]["source"] = words[1]
        elif words[0] == "type":
            kernels[-1]["types"] = words[1:]
        elif words[0] == "define":
            kernels[-1]["defines"] += words[1:]
    return [Module(kernel, kind) for kernel in kernels for kind in kernel["types"]]


def listCases(modules, program):
    """All cases, as (line, whether with native storage of narrow types); gives the modules their pipelines."""
    named = {module.name: module for module in modules}
    cases, seen = [], set()
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as written:
        for file in sorted((ROOT / "tests/conformance/cases").glob("*.txt")):
            written.write(file.read_text())
        written.flush()
        listing = [*program, "case", "--file", written.name, "--generated", "--pipelines"]
        for native in (True, False):
            for line in output(*listing, *([] if native else ["--no-native-storage"])).splitlines():
                if line in seen:  # the same without
                    continue
                seen.add(line)
                case, *pipelines = line.split("\t")
                for pipeline in set(pipelines):
                    kernel, *constants = pipeline.split()
                    # Every device that multiplies matrices of FLOAT16 stores them: without, there are no such kernels.
                    if not native and "cooperative" in kernel:
                        continue
                    named[kernel].pipelines.setdefault(tuple(constants), []).append(len(cases))
                cases.append((case, native))
    return cases


def hashOf(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def optimized(module, constants, temporary):
    """Of a module with the specialization constants given, or with none fixed. Empty if it is not valid."""
    target = temporary / "optimized.spv"
    fixed = []
    if constants:
        values = " ".join(constant.replace("=", ":") for constant in constants)
        fixed = [f"--set-spec-const-default-value={values}", "--freeze-spec-const", "--fold-spec-const-op-composite"]
    if run(TOOLS / "spirv-opt", "--strip-debug", *fixed, "-O", module, "-o", target).returncode:
        return ""
    return hashOf(target)


class Originals:
    """What the kernels as they are compile to, and which lines and functions are part of it."""

    def __init__(self, modules, folder, pool):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.files = sorted(str(f.relative_to(KERNELS)) for f in KERNELS.glob("*/*") if f.suffix in (".comp", ".glsl"))
        self.lines = {file: (KERNELS / file).read_text().splitlines() for file in self.files}
        marked = folder / "marked"
        shutil.rmtree(marked, ignore_errors=True)
        for number, file in enumerate(self.files):
            (marked / file).parent.mkdir(parents=True, exist_ok=True)
            (marked / file).write_text("\n".join(
                line + f" MARK_{number}_{at}" if isCode(line) else line for at, line in enumerate(self.lines[file])) + "\n")
        self.live = collections.defaultdict(set)  # (file, line) -> modules
        self.calls = {}  # module -> names of functions that main reaches
        self.hashes = {}
        for module, marks, calls in pool.map(lambda m: self.look(m, marked), modules):
            for number, at in marks:
                self.live[self.files[int(number)], int(at)].add(module)
            self.calls[module] = calls

    def look(self, module, marked):
        text = output(TOOLS / "glslang", "-E", marked / module.source, f"-I{GENERATED}", f"-I{marked}", *module.defines)
        spirv = self.folder / f"{module.name}.spv"
        if not module.compile(KERNELS, spirv):
            sys.exit(f"{module.name} cannot be compiled.")
        names, called, function, main = {}, collections.defaultdict(set), None, None
        for line in output(TOOLS / "spirv-dis", "--raw-id", "--no-color", spirv).splitlines():
            words = line.split()
            if words[:1] == ["OpName"] and '(' in line:
                names[words[1]] = line.split('"')[1].split("(")[0]
            elif words[:1] == ["OpEntryPoint"]:
                main = words[3] if words[3].startswith("%") else words[2]
            elif "OpFunction" in words:
                function = words[0]
            elif "OpFunctionCall" in words:
                called[function].add(words[4])
        reached, waiting = set(), [main]
        while waiting:
            each = waiting.pop()
            if each not in reached:
                reached.add(each)
                waiting += called[each]
        return module, set(MARK.findall(text)), {names[each] for each in reached if each in names} | {"main"}

    def hash(self, module, constants, temporary):
        key = (module.name, constants)
        if key not in self.hashes:
            self.hashes[key] = optimized(self.folder / f"{module.name}.spv", constants, temporary)
        return self.hashes[key]


def isCode(line):
    code = line.split("//")[0].rstrip()
    # Declarations of the interface have to stay.
    return bool(code.strip()) and not code.lstrip().startswith(("#", "layout", "shared ")) and not code.endswith("\\")


def enclosingFunctions(lines):
    function, result = None, []
    for line in lines:
        if match := FUNCTION.match(line):
            function = match.group(1)
        result.append(function)
        if line.startswith("}") or (FUNCTION.match(line) and line.rstrip().endswith("}")):
            function = None
    return result


class Enumerators:
    """DML_OPERATOR_* -> value, and the operators whose `case` reaches a function."""

    def __init__(self, originals):
        self.values = dict(re.findall(r"#define (DML_\w+) (\d+)\n", (GENERATED / "directml_enums.glsl").read_text()))
        calls, self.named = collections.defaultdict(set), collections.defaultdict(set)
        for file in originals.files:
            pending = set()
            for line, function in zip(originals.lines[file], enclosingFunctions(originals.lines[file])):
                found = {self.values[n] for n in re.findall(r"\b(DML_\w+)", line) if n in self.values}
                used = set(re.findall(r"\b(\w+)\(", line))
                pending |= found
                if pending and "return" in line or found:
                    for name in used:
                        self.named[name] |= pending
                elif function:
                    calls[function] |= used - {function}
                if "return" in line or "break" in line:
                    pending = set()
        changed = True
        while changed:
            changed = False
            for caller, callees in calls.items():
                for callee in callees:
                    before = len(self.named[callee])
                    self.named[callee] |= self.named.get(caller, set())
                    changed |= len(self.named[callee]) != before

    def of(self, line, function):
        return {self.values[n] for n in re.findall(r"\b(DML_\w+)", line) if n in self.values} or self.named.get(function, set())


def readEquivalent(originals):
    """{(file, line, changed line)}; stanzas of four lines: file, original, changed, the reason."""
    result = set()
    stanzas = [s.splitlines() for s in re.sub(r"(?m)^#.*\n", "", EQUIVALENT.read_text()).split("\n\n") if s.strip()]
    for stanza in stanzas:
        stanza = [line.strip() for line in stanza if line.strip()]
        file, original, changed = stanza[:3]
        if len(stanza) < 4 or file not in originals.lines:
            sys.exit(f"{EQUIVALENT.name}: {file}: expected a file of kernels/, a line, what it becomes, and the reason.")
        if original not in [line.strip() for line in originals.lines[file]]:
            sys.exit(f"{EQUIVALENT.name}: {file} has no line any more that reads\n  {original}")
        result.add((file, original, changed))
    return result


def sites(file, originals, equivalent):
    for number, line in enumerate(originals.lines[file]):
        code = line.split("//")[0]
        # A loop that never ends proves nothing.
        if not isCode(line) or LOOP.match(code) or not originals.live[file, number]:
            continue
        for pattern, replacement in CHANGES:
            for match in re.finditer(pattern, code):
                changed = line[: match.start()] + replacement + line[match.end() :]
                if (file, line.strip(), changed.strip()) not in equivalent:
                    yield number, changed


class Writer:
    def __init__(self, options, originals, cases, enumerators):
        self.options, self.originals, self.cases, self.enumerators = options, originals, cases, enumerators
        self.functions = {file: enclosingFunctions(lines) for file, lines in originals.lines.items()}

    def candidates(self, file, number, chooser):
        """Modules whose main reaches the line, those of different kernels and types in turn."""
        function = self.functions[file][number]
        modules = [m for m in self.originals.live[file, number]
                   if m.pipelines and (function is None or function in self.originals.calls[m])]  # fmt: skip
        chooser.shuffle(modules := sorted(modules, key=lambda m: m.name))
        turns, ordered = collections.Counter(), []
        for module in modules:
            kernel, _, kind = module.name.partition(".")
            turns[kernel] += 1
            turns[kind] += 1
            ordered.append((turns[kernel] + turns[kind], len(ordered), module))
        return [module for _, _, module in sorted(ordered)]

    def changedPipelines(self, module, spirv, wanted, chooser, temporary):
        """Some whose code is another."""
        keys = sorted(module.pipelines, key=lambda k: (not wanted & {c.split("=")[1] for c in k}, chooser.random()))
        found = []
        for constants in keys[:TRIED_PIPELINES]:
            if optimized(spirv, constants, temporary) != self.originals.hash(module, constants, temporary):
                found.append(constants)
            if len(found) == self.options.pipelines:
                break
        return found

    def write(self, index, file, number, changed):
        """Whether the mutant counts: None if it is no GLSL, False if it is equivalent."""
        chooser = random.Random(f"{self.options.seed} {file} {number} {changed}")
        target = self.options.folder / f"{index:04}"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        original = self.originals.lines[file][number]
        wanted = self.enumerators.of(original, self.functions[file][number])
        result, numbers, taken, left = None, [], 0, []
        with tempfile.TemporaryDirectory() as folder:
            temporary = pathlib.Path(folder)
            tree = temporary / "source"
            tree.mkdir()
            for each in KERNELS.iterdir():
                if each.is_dir() and each.name != file.split("/")[0]:
                    (tree / each.name).symlink_to(each)
            shutil.copytree(KERNELS / file.split("/")[0], tree / file.split("/")[0])
            lines = list(self.originals.lines[file])
            lines[number] = changed
            (tree / file).write_text("\n".join(lines) + "\n")

            def take(module, spirv, pipelines):
                shutil.copy(spirv, target)
                for constants in pipelines:
                    of = module.pipelines[constants]
                    numbers.extend(chooser.sample(of, min(len(of), self.options.cases // 4)))

            for module in self.candidates(file, number, chooser)[:TRIED]:
                spirv = temporary / f"{module.name}.spv"
                if not module.compile(tree, spirv):
                    break
                result = False
                if pipelines := self.changedPipelines(module, spirv, wanted, chooser, temporary):
                    take(module, spirv, pipelines)
                    taken += 1
                else:
                    left.append((module, spirv))
                if taken == self.options.modules:
                    break
            # Only specializations that were not looked at may be others.
            for module, spirv in left if not taken else []:
                if optimized(spirv, (), temporary) != self.originals.hash(module, (), temporary):
                    take(module, spirv, module.pipelines)
                    taken += 1
        if not taken:
            shutil.rmtree(target)
            return result
        numbers = sorted(set(numbers))
        chooser.shuffle(numbers)
        for name, native in (("cases", True), ("cases-on-words", False)):
            of = [self.cases[n][0] for n in numbers if self.cases[n][1] == native]
            (target / name).write_text("".join(line + "\n" for line in of[: self.options.cases]))
        (target / "change").write_text(f"{file}:{number + 1}: {original.strip()}  ->  {changed.strip()}\n")
        return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--set", choices=SETS, default="values", help="of folders of kernels/")
    parser.add_argument("--count", type=int, default=320, help="mutants wanted")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="only files whose path contains this")
    parser.add_argument("--again", type=pathlib.Path)
    parser.add_argument("--program", default=str(ROOT / "build/linux-release/bin/dimple"))
    parser.add_argument("--modules", type=int, default=6, help="of a mutant, at most")
    parser.add_argument("--pipelines", type=int, default=2, help="of a module whose cases run")
    parser.add_argument("--cases", type=int, default=1000, help="of a mutant, at most")
    options = parser.parse_args()
    modules = readManifest()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        originals = Originals(modules, options.folder.parent / "mutants-original", pool)
        equivalent = readEquivalent(originals)
        writer = Writer(options, originals, listCases(modules, shlex.split(options.program)), Enumerators(originals))
        files = [f for f in originals.files if f.split("/")[0] in SETS[options.set] and options.only in f]
        chooser = random.Random(options.seed)
        perFile = {file: list(dict.fromkeys(sites(file, originals, equivalent))) for file in files}
        order = []
        if options.again:
            wanted = {(m / "change").read_text().strip() for m in options.again.iterdir()
                      if (m / "result").read_text().strip() == "survives"}  # fmt: skip
            order = [(file, *site) for file, found in perFile.items() for site in found
                     if f"{file}:{site[0] + 1}: {originals.lines[file][site[0]].strip()}  ->  {site[1].strip()}" in wanted]  # fmt: skip
        else:
            for found in perFile.values():
                chooser.shuffle(found)
            # In turn, so that small files count as much as large ones.
            while any(perFile.values()):
                order += [(file, *found.pop()) for file, found in perFile.items() if found]
        made, no, same, at = 0, 0, 0, 0
        while made < options.count and at < len(order):
            some = order[at : at + options.count - made]
            for result in pool.map(lambda each: writer.write(*each), [(at + i, *site) for i, site in enumerate(some)]):
                made += result is True
                no += result is None
                same += result is False
            at += len(some)
    print(f"{made} mutants in {options.folder} of {at} changes; {no} are no GLSL, {same} compile to the original.")


if __name__ == "__main__":
    main()
