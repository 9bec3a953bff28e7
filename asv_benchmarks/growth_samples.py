"""The samples of `growth`: for each program, in new processes, what a compilation takes."""

from __future__ import annotations

import datetime
import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import llvmlite.binding

from . import cold
from .growth_programs import FAMILIES, Family
from .machine import machine

PACKAGES = ("numbagraph", "numpy", "llvmlite", "pymc", "pytensor")
LONG = 30.0
"""Seconds: what takes longer is measured once."""


def chosen(patterns: list[str]) -> list[Family]:
    """The families whose names match: globs, or parts of names."""
    found = [
        each
        for each in FAMILIES.values()
        if not patterns or any(fnmatch(each.name, given) or given in each.name for given in patterns)
    ]
    if not found:
        raise SystemExit(f"no family is called so; there are {', '.join(FAMILIES)}")
    return found


def sizes(family: Family, *, quick: bool, most: int | None) -> tuple[int, ...]:
    kept = family.sizes[: (len(family.sizes) + 1) // 2] if quick else family.sizes
    return tuple(size for size in kept if most is None or size <= most)


def sample(family: Family, size: int, limit: float) -> dict[str, Any]:
    """One process: its seconds and bytes, or why there are none."""
    with cold.empty_cache() as cache:
        arguments = ["-m", "asv_benchmarks.growth_child", family.name, str(size)]
        variables = cold.environment(cache, jax_cache=False) | {"NUMBAGRAPH_CACHE": "1"}
        try:
            return json.loads(cold.run_child(arguments, variables, limit))
        except cold.Absent as reason:
            return {"absent": str(reason)}
        except cold.Failure as error:
            return {"failed": str(error)}


def collected(options: Namespace) -> Iterator[dict[str, Any]]:
    """The samples of all programs that are asked for. Where a size takes too long, larger ones are left out."""
    families = chosen(options.families)
    for family in families:
        print(f"growth: {family.name}", file=sys.stderr)
        if not family.is_installed:
            yield {"family": family.name, "size": 0, "absent": f"{family.module} is not installed"}
            continue
        for size in sizes(family, quick=options.quick, most=options.most):
            found: dict[str, Any] = {}
            for _ in range(1 if options.quick else options.repeats):
                found = sample(family, size, options.limit)
                yield {"family": family.name, "size": size, **found}
                if found.get("seconds", LONG) >= LONG:
                    break
            if "seconds" not in found:
                break


def document(samples: Iterator[dict[str, Any]]) -> dict[str, Any]:
    """All of a run, as JSON has it."""
    found = list(samples)
    about = machine() | {"date": datetime.datetime.now(datetime.UTC).date().isoformat(), "cores": os.cpu_count()}
    return {"machine": about, "versions": versions(), "samples": found}


def versions() -> dict[str, str]:
    found = {"LLVM": ".".join(map(str, llvmlite.binding.llvm_version_info))}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def joined(known: dict[str, Any] | None, new: dict[str, Any]) -> dict[str, Any]:
    """A run beside an earlier one, of which it replaces the families that it has measured."""
    if known is None:
        return new
    again = {each["family"] for each in new["samples"]}
    kept = [each for each in known["samples"] if each["family"] not in again]
    return new | {"versions": known["versions"] | new["versions"], "samples": kept + new["samples"]}
