#!/usr/bin/env python3
"""Writes mutants of kernels: one operator, comparison, index, component or bound changed in the GLSL of each.

    tools/mutants.py FOLDER [--count N] [--seed S] [--only TEXT]

Every mutant is a folder NNNN with its compiled kernels, `filter` (the operators whose cases ought to notice it) and
`change` (what was changed). tools/mutants.sh runs their cases. It takes the kernels' compiler and generated headers from
build/linux-release.
"""
import argparse
import concurrent.futures
import pathlib
import random
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNELS = ROOT / "kernels"
GENERATED = ROOT / "build/linux-release/kernels/generated"
GLSLANG = ROOT / "build/deps/bin/glslang"

# Types that are compiled; a family that has none of them is compiled for all of its own.
TYPES = {"f32", "i8", "b8", "b32"}

# Folders of the kernels that mutants are made of and compiled with; others include the same files.
FOLDERS = ("elementwise", "indexing", "movement", "quantize", "random", "reduce", "scan", "softmax", "sort")

# Operators that run a file's code. Where a line or the functions around it name operators, those are taken instead.
OPERATORS = {
    "elementwise/unary": "ELEMENT_WISE_ABS,ELEMENT_WISE_CLIP,ACTIVATION_LINEAR",
    "elementwise/binary": "ELEMENT_WISE_ADD,ELEMENT_WISE_DIVIDE,CLIP_GRAD",
    "elementwise/pow": "POW",
    "elementwise/predicate": "LOGICAL_EQUALS,LOGICAL_LESS,LOGICAL_GREATER",
    "elementwise/select": "ELEMENT_WISE_IF",
    "elementwise/value_scale": "VALUE_SCALE_2D",
    "elementwise/attributes": "ELEMENT_WISE_CLIP",
    "elementwise/saturated": "ELEMENT_WISE_ABS,ACTIVATION_SHRINK",
    "common/pow": "POW",
    "common/numbers": "CAST",
    "common/walk": "ELEMENT_WISE_ADD,SLICE,GATHER",
    "common/wide": "ELEMENT_WISE_ADD,SLICE,RANDOM",
    "common/grid": "ELEMENT_WISE_ADD,REDUCE",
    "common/packed": "ELEMENT_WISE_ADD,ELEMENT_WISE_ABS",
    "common/index": "GATHER,SCATTER,ONE_HOT",
    "common/types": "ELEMENT_WISE_ADD,ELEMENT_WISE_ABS,CAST",
    "movement/copy": "SLICE,JOIN,TILE,ELEMENT_WISE_IDENTITY",
    "movement/transpose": "ELEMENT_WISE_IDENTITY,SPACE_TO_DEPTH",
    "movement/fill": "FILL_VALUE_CONSTANT,SLICE_GRAD",
    "movement/gather": "GATHER",
    "movement/gather_nd": "GATHER_ND",
    "movement/scatter_nd": "SCATTER_ND",
    "movement/pad": "PADDING",
    "movement/reverse": "REVERSE_SUBSEQUENCES",
    "movement/one_hot": "ONE_HOT",
    "movement/band": "DIAGONAL_MATRIX",
    "movement/sequence": "FILL_VALUE_SEQUENCE",
    "movement/cast": "CAST",
    "reduce/": "REDUCE,ARGM",
    "softmax/": "SOFTMAX,HARDMAX",
    "scan/": "CUMULATIVE",
    "sort/": "TOP_K",
    "random/": "RANDOM_GENERATOR",
    "indexing/": "NONZERO",
    "quantize/": "QUANTIZE",
}
CHANGES = [
    (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " + "), (r" / ", " * "), (r" % ", " / "), (r" < ", " <= "),
    (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "), (r" && ", " || "),
    (r" \|\| ", " && "), (r" << ", " >> "), (r" >> ", " << "), (r"\b0u\b", "1u"), (r"\b1u\b", "2u"),
    (r"\b0\.0\b", "1.0"), (r"\b1\.0\b", "2.0"), (r"\.x\b", ".y"), (r"\.y\b", ".x"),
]  # fmt: skip
FUNCTION = re.compile(r"^[A-Za-z_]\w* (\w+)\([^;]*\) \{")
OPERATOR = re.compile(r"DML_OPERATOR_(\w+)")


def stanzas():
    kernels, current = [], None
    for line in (KERNELS / "manifest.txt").read_text().splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "kernel":
            current = {"name": words[1], "types": [], "defines": []}
            kernels.append(current)
        elif words[0] == "source":
            current["source"] = words[1]
        elif words[0] == "type":
            current["types"] = words[1:]
        elif words[0] == "define":
            current["defines"] += words[1:]
    return kernels


def closure(source, seen=None):
    seen = set() if seen is None else seen
    if source in seen or not (KERNELS / source).exists():
        return seen
    seen.add(source)
    for name in re.findall(r'#include "([^"]+)"', (KERNELS / source).read_text()):
        closure(name, seen)
    return seen


def operators_of_functions(files):
    """Function name -> operators whose `case` reaches it."""
    calls, named = {}, {}
    for file in files:
        function = None
        for line in (KERNELS / file).read_text().splitlines():
            if match := FUNCTION.match(line):
                function = match.group(1)
            used = set(re.findall(r"\b(\w+)\(", line))
            if found := OPERATOR.findall(line):
                for name in used:
                    named.setdefault(name, set()).update(found)
            elif function:
                calls.setdefault(function, set()).update(used - {function})
    changed = True
    while changed:
        changed = False
        for caller, callees in calls.items():
            for callee in callees:
                before = len(named.setdefault(callee, set()))
                named[callee] |= named.get(caller, set())
                changed |= len(named[callee]) != before
    return named


def sites(file, named):
    function, operators = None, ""
    for number, line in enumerate((KERNELS / file).read_text().splitlines()):
        if match := FUNCTION.match(line):
            function = match.group(1)
        if line.startswith("}"):
            function = None
        if found := OPERATOR.findall(line):
            operators = ",".join(found)
        code = line.split("//")[0]
        # A loop that never ends proves nothing, and declarations of the interface have to stay.
        if not code.strip() or code.lstrip().startswith(("#", "layout", "for (", "while (", "shared ")):
            continue
        if code.rstrip().endswith("\\"):
            continue
        key = max((k for k in OPERATORS if file.startswith(k)), key=len, default=None)
        wanted = operators if OPERATOR.search(line) else OPERATORS.get(key, "") if key else ""
        if function in named and named[function] and not OPERATOR.search(line):
            wanted = ",".join(sorted(named[function])[:6])
        for pattern, replacement in CHANGES:
            for match in re.finditer(pattern, code):
                if wanted:
                    yield number, match.start(), match.end(), replacement, wanted


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=400, help="mutants wanted")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folders", default=",".join(FOLDERS), help="of kernels")
    parser.add_argument("--only", default="", help="only files whose path contains this")
    options = parser.parse_args()
    kernels = [kernel for kernel in stanzas() if kernel["source"].split("/")[0] in options.folders.split(",")]
    uses = {kernel["name"]: closure(kernel["source"]) for kernel in kernels}
    files = sorted(f for f in set().union(*uses.values()) if options.only in f)
    named = operators_of_functions([f for f in sorted(set().union(*uses.values())) if "_functions" in f or "common/" in f])
    chooser = random.Random(options.seed)
    per_file = {file: list(sites(file, named)) for file in files}
    for found in per_file.values():
        chooser.shuffle(found)
    chosen = []
    # In turn, so that small files count as much as large ones.
    while len(chosen) < options.count and any(per_file.values()):
        chosen += [(file, found.pop()) for file, found in per_file.items() if found]
    chosen = chosen[: options.count]

    def write(index, file, site):
        number, start, end, replacement, wanted = site
        target = options.folder / f"{index:04}"
        shutil.rmtree(target, ignore_errors=True)
        (target / "source").mkdir(parents=True)
        for used in sorted(set().union(*(c for c in uses.values() if file in c))):
            copy = target / "source" / used
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(KERNELS / used, copy)
        lines = (KERNELS / file).read_text().splitlines()
        changed = lines[number][:start] + replacement + lines[number][end:]
        change = f"{file}:{number + 1}: {lines[number].strip()}  ->  {changed.strip()}"
        lines[number] = changed
        (target / "source" / file).write_text("\n".join(lines) + "\n")
        compiled = 0
        for kernel in kernels:
            if file not in uses[kernel["name"]]:
                continue
            for kind in [t for t in kernel["types"] if t in TYPES] or kernel["types"] or [None]:
                name = kernel["name"] + (f".{kind}" if kind else "")
                command = [GLSLANG, "-V", "--quiet", "--target-env", "vulkan1.2", "-o", target / f"{name}.spv",
                           target / "source" / kernel["source"], f"-I{GENERATED}", f"-I{target / 'source'}"]  # fmt: skip
                command += [f"-D{define}" for define in kernel["defines"]] + ([f"-DT={kind}"] if kind else [])
                compiled += subprocess.run(command, capture_output=True).returncode == 0
        shutil.rmtree(target / "source")
        if compiled == 0:  # no GLSL any more
            shutil.rmtree(target)
            return 0
        (target / "filter").write_text(wanted + "\n")
        (target / "change").write_text(change + "\n")
        return 1

    with concurrent.futures.ThreadPoolExecutor() as pool:
        made = sum(pool.map(lambda each: write(each[0], *each[1]), enumerate(chosen)))
    print(f"{made} mutants in {options.folder} of {len(chosen)} changes; the others are no GLSL.")


if __name__ == "__main__":
    main()
