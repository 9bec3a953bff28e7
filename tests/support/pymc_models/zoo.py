"""The register of models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pymc as pm

SINGULAR = "the covariance is singular to working precision, and what is computed with it depends on rounding"


@dataclass(frozen=True)
class ZooModel:
    """A model, what it shows, and what it needs that is not there yet."""

    name: str
    kind: str
    build: Callable[[], pm.Model]
    description: str
    unsupported: str = ""
    """The op that it waits for: then there must be an error that names it."""
    far: str = ""
    """Why PyTensor's numbers are nothing to compare with, far away from where chains begin."""


MODELS: dict[str, ZooModel] = {}


def add(name: str, kind: str, build: Callable[[], pm.Model], description: str, **notes: str) -> None:
    if name in MODELS:
        raise ValueError(f"two models are called {name!r}")
    MODELS[name] = ZooModel(name, kind, build, description, **notes)


def zoo(kind: str, **notes: str) -> Callable[[Callable[[], pm.Model]], Callable[[], pm.Model]]:
    """Put a model into the zoo, under the function's name and with the first line of its docstring."""

    def register(build: Callable[[], pm.Model]) -> Callable[[], pm.Model]:
        name = build.__name__.replace("_", " ")
        add(name, kind, build, (build.__doc__ or "").split("\n")[0], **notes)
        return build

    return register
