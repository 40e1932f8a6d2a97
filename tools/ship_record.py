#!/usr/bin/env python3
"""Makes clients/dimple/shipped_record.json, which `dimple ops` shows where no tests have run.

    tools/ship_record.py VERSION DATE build/linux-release/test-results.json...

A back end and device that the records do not have keep what they had.
"""
import json
import pathlib
import sys

TARGET = pathlib.Path(__file__).resolve().parent.parent / "clients/dimple/shipped_record.json"


def shipped_run(run, date):
    """The operators of each set of data types that passed."""
    types = {}
    failed = {(row["operator"], row["type"]) for row in run["results"] if row["failed"]}
    for row in run["results"]:
        if row["passed"] and (row["operator"], row["type"]) not in failed:
            types.setdefault(row["operator"], []).append(row["type"])
    operators = {}
    for operator, names in sorted(types.items()):
        operators.setdefault(" ".join(sorted(names)), []).append(operator)
    return {
        "backend": run["backend"],
        "device": run["device"],
        "date": date,
        "cases": sum(row["passed"] for row in run["results"]),
        "types": {names: " ".join(of) for names, of in sorted(operators.items())},
    }


def main():
    version, date, *files = sys.argv[1:]
    runs = {}
    if TARGET.exists():
        runs = {(run["backend"], run["device"]): run for run in json.loads(TARGET.read_text())["runs"]}
    for file in files:
        record = json.loads(pathlib.Path(file).read_text())
        for run in record if isinstance(record, list) else [record]:
            runs[run["backend"], run["device"]] = shipped_run(run, date)
    shipped = {"version": version, "runs": [runs[key] for key in sorted(runs, reverse=True)]}
    TARGET.write_text(json.dumps(shipped, indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main()
