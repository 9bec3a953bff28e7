"""Models of random parts: priors, what is computed of them, and likelihoods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from tests.support.pymc_models.distributions import CONTINUOUS, DISCRETE, NO_PRIOR, positive, real, unit

transforms = pm.distributions.transforms
ROWS, GROUPS = 6, 3
POINTS = 0.15
"""The share of observations that are at an end of the support."""

Part = Callable[["Draw"], None]
PARTS: dict[str, Part] = {}


def part(make: Part) -> Part:
    PARTS[make.__name__.replace("_", " ")] = make
    return make


def names() -> list[str]:
    """Distributions, and what else models consist of."""
    return sorted([*CONTINUOUS, *DISCRETE, *PARTS])


class Draw:
    """Draws the parts of one model."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.used: list[str] = []
        self.lines: list[str] = []
        self.count = 0
        self.data: dict[str, np.ndarray] = {}
        self.resizable: set[str] = set()
        """The data whose length is free, all of them together."""
        self.reals: list[Any] = []
        self.positives: list[Any] = []
        self.units: list[Any] = []
        self.model = pm.Model(coords={"row": range(ROWS), "group": range(GROUPS)})

    def choose(self, items: Any) -> Any:
        items = list(items)
        return items[int(self.rng.integers(len(items)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def name(self, kind: str) -> str:
        self.count += 1
        return f"{kind}_{self.count}"

    # ---- parameters ----

    def shape(self) -> dict[str, Any]:
        """No shape, or one that broadcasts with the rows or groups."""
        return self.choose(
            [{}, {}, {"dims": "group"}, {"shape": GROUPS}, {"shape": (2, 1)}, {"dims": ("row", "group")}]
        )

    def parameter(self, kind: Any, *, size: int | None = None) -> Any:
        """A parameter of some kind: a number, a variable of the model, or something computed of one."""
        pool = {real: self.reals, positive: self.positives, unit: self.units}[kind]
        pool = [each for each in pool if each.ndim == 0 or (size is not None and each.type.shape == (size,))]
        if self.chance(0.35):
            return self.constant(kind)
        if pool and self.chance(0.6):
            return self.choose(pool)
        return self.computed(kind, size)

    def constant(self, kind: Any) -> float:
        if kind is real:
            return round(float(self.rng.normal()), 2)
        if kind is positive:
            return round(float(self.rng.gamma(3.0)) + 0.1, 2)
        return round(float(self.rng.uniform(0.1, 0.9)), 2)

    def computed(self, kind: Any, size: int | None) -> Any:
        reals = [each for each in self.reals if each.ndim == 0 or (size is not None and each.type.shape == (size,))]
        base = self.choose(reals) if reals else self.free_real()
        other = self.choose(reals) if reals else 0.5
        if kind is real:
            return self.choose([base + other * 2, base - other, pt.tanh(base), base**2, pt.sin(base) * other])
        if kind is positive:
            return self.choose([pt.exp(base), pt.softplus(base), base**2 + 0.1, pt.sqrt(base**2 + 1), abs(base) + 0.01])
        # beyond 8, PyMC's probabilities round to 1, and what is left of them to 0
        return self.choose([pm.math.sigmoid(base), pm.math.invprobit(5 * pt.tanh(base)), pt.sigmoid(base * other)])

    def free_real(self) -> Any:
        found = pm.Normal(self.name("real"), self.constant(real), self.constant(positive))
        self.reals.append(found)
        return found

    def filled(self, parameters: dict[str, Any], size: int | None = None) -> dict[str, Any]:
        return {name: self.parameter(each, size=size) if callable(each) else each for name, each in parameters.items()}

    # ---- parts ----

    def prior(self, name: str) -> None:
        parameters, values = CONTINUOUS.get(name) or DISCRETE[name]
        options = self.shape()
        if self.chance(0.2) and name in CONTINUOUS:
            options["default_transform"] = None
        given = self.filled(parameters)
        variable = getattr(pm, name)(self.name(name), **given, **options)
        if name in CONTINUOUS and np.min(values) < 0:
            self.reals.append(variable)
        elif name in CONTINUOUS and options.get("default_transform", 1) is not None:
            (self.units if np.max(values) < 1 else self.positives).append(variable)

    def likelihood(self, name: str) -> None:
        parameters, values = CONTINUOUS.get(name) or DISCRETE[name]
        observed = self.rng.choice(values, ROWS)
        if self.chance(POINTS):
            observed[0] = self.choose([0, 1, min(values)])
        if name in CONTINUOUS and self.chance(0.15):
            observed = self.with_missing(observed)
        elif self.chance(0.3):
            self.data[label := self.name("data")] = observed
            observed = pm.Data(label, observed)
        getattr(pm, name)(self.name(f"y_{name}"), **self.filled(parameters, ROWS), observed=observed)

    def with_missing(self, observed: np.ndarray) -> Any:
        self.used.append("missing values")
        mask = self.rng.random(observed.shape) < 0.3
        mask[0] = True
        return np.ma.masked_array(observed, mask) if self.chance(0.5) else np.where(mask, np.nan, observed)

    def covariance(self, length: int) -> np.ndarray:
        root = self.rng.normal(size=(length, length))
        return root @ root.T + 0.5 * np.eye(length)

    def add(self, name: str) -> None:
        self.used.append(name)
        if name in PARTS:
            PARTS[name](self)
        elif name in NO_PRIOR or (name in DISCRETE and self.chance(0.85)) or self.chance(0.4):
            self.likelihood(name)
        else:
            self.prior(name)

    def other_data(self) -> dict[str, np.ndarray]:
        return {name: each[::-1].copy() for name, each in self.data.items()}

    def longer_data(self) -> dict[str, np.ndarray]:
        """Data of other lengths where a part has no rows but those of its data, and elsewhere the same in another
        order."""
        return {
            name: np.concatenate([each, each[:2]]) if name in self.resizable else np.roll(each, 1, axis=0)
            for name, each in self.data.items()
        }

    def __str__(self) -> str:
        lines = [f"{each.name} ~ {each.owner.op} {each.type}" for each in self.model.basic_RVs]
        return f"parts: {self.used}\n" + "\n".join([*lines, self.model.str_repr(), repr(self.data)])


def draw_model(rng: np.random.Generator, drawn: Sequence[str]) -> Draw:
    """A model of a few parts."""
    found = Draw(rng)
    with found.model:
        if found.chance(0.7):
            found.free_real()
        for _ in range(int(rng.integers(1, 5))):
            found.add(found.choose(drawn))
        if not found.model.free_RVs:
            found.free_real()
    return found


# ---- what is more than one univariate distribution ----


@part
def missing_values(draw: Draw) -> None:
    observed = draw.with_missing(draw.rng.normal(size=ROWS))
    pm.Normal(draw.name("partly"), draw.parameter(real), draw.parameter(positive), observed=observed)


@part
def scale_that_may_be_negative(draw: Draw) -> None:
    scale = pm.Normal(draw.name("scale"), 0.5, 1.0)
    pm.Normal(draw.name("y"), draw.parameter(real), scale, observed=draw.rng.normal(size=ROWS))


@part
def groups(draw: Draw) -> None:
    """Effects of groups, by an index, centred or not."""
    index = draw.rng.integers(0, GROUPS, ROWS)
    if draw.chance(0.5):
        draw.data[label := draw.name("index")] = index
        index = pm.Data(label, index)
    scale = pm.HalfNormal(draw.name("scale"))
    effect = pm.Normal(draw.name("effect"), 0.0, 1.0 if draw.chance(0.5) else scale, dims="group")
    effect = pm.Deterministic(draw.name("scaled"), effect * scale, dims="group")
    draw.reals.append(effect[index])
    pm.Normal(draw.name("y"), effect[index], draw.parameter(positive), observed=draw.rng.normal(size=ROWS), dims="row")


@part
def regression(draw: Draw) -> None:
    values = draw.rng.normal(size=(ROWS, GROUPS))
    draw.data[label := draw.name("values")] = values
    slopes = pm.Normal(draw.name("slopes"), shape=GROUPS)
    mean = pm.Data(label, values) @ slopes + draw.parameter(real)
    draw.choose(
        [
            lambda: pm.Normal(draw.name("y"), mean, draw.parameter(positive), observed=draw.rng.normal(size=ROWS)),
            lambda: pm.Bernoulli(draw.name("y"), logit_p=mean, observed=draw.rng.integers(0, 2, ROWS)),
            lambda: pm.Poisson(draw.name("y"), pm.math.exp(mean), observed=draw.rng.integers(0, 5, ROWS)),
        ]
    )()


@part
def data_of_any_length(draw: Draw) -> None:
    """A line through points, of which there may be others later."""
    found = []
    for kind in ("places", "heights"):
        draw.data[label := draw.name(kind)] = draw.rng.normal(size=ROWS)
        draw.resizable.add(label)
        found.append(pm.Data(label, draw.data[label]))
    places, heights = found
    mean = draw.parameter(real) + draw.parameter(real) * places
    pm.Normal(draw.name("y"), mean, draw.parameter(positive), observed=heights, shape=places.shape)


@part
def multivariate_normal(draw: Draw) -> None:
    covariance = draw.covariance(GROUPS)
    form = draw.choose(["cov", "chol", "tau"])
    given: Any = np.linalg.cholesky(covariance) if form == "chol" else covariance
    if draw.chance(0.6):
        given = given * draw.parameter(positive)
    mean = draw.parameter(real) + np.zeros(GROUPS)
    if draw.chance(0.5):
        pm.MvNormal(draw.name("vector"), mean, **{form: given}, shape=GROUPS)
    else:
        pm.MvNormal(draw.name("y"), mean, **{form: given}, observed=draw.rng.normal(size=(2, GROUPS)))


@part
def multivariate_t(draw: Draw) -> None:
    scale = draw.covariance(2) * draw.parameter(positive)
    pm.MvStudentT(
        draw.name("y"), nu=draw.parameter(positive), mu=np.zeros(2), scale=scale, observed=draw.rng.normal(size=(3, 2))
    )


@part
def factor_of_a_covariance(draw: Draw) -> None:
    scales = pm.HalfNormal.dist(1.0, shape=2)
    factor, _, _ = pm.LKJCholeskyCov(draw.name("factor"), n=2, eta=2.0, sd_dist=scales, compute_corr=True)
    pm.MvNormal(draw.name("y"), np.zeros(2), chol=factor, observed=draw.rng.normal(size=(3, 2)))


@part
def simplex(draw: Draw) -> None:
    weights = pm.Dirichlet(draw.name("weights"), draw.rng.gamma(2.0, size=GROUPS) + 0.2)
    if draw.chance(0.5):
        pm.Categorical(draw.name("kind"), weights, observed=draw.rng.integers(0, GROUPS, ROWS))
    else:
        counts = draw.rng.multinomial(7, np.ones(GROUPS) / GROUPS)
        pm.Multinomial(draw.name("counts"), 7, weights, observed=counts)


@part
def counts_with_a_concentration(draw: Draw) -> None:
    counts = draw.rng.multinomial(7, np.ones(GROUPS) / GROUPS)
    pm.DirichletMultinomial(draw.name("counts"), 7, draw.parameter(positive) * np.ones(GROUPS), observed=counts)


@part
def ordered(draw: Draw) -> None:
    start = np.sort(draw.rng.normal(size=GROUPS)) + np.arange(GROUPS)
    cuts = pm.Normal(draw.name("cuts"), 0.0, 2.0, shape=GROUPS, transform=transforms.ordered, initval=start)
    kind = draw.choose([pm.OrderedLogistic, pm.OrderedProbit])
    observed = draw.rng.integers(0, GROUPS + 1, ROWS)
    kind(draw.name("y"), eta=draw.parameter(real), cutpoints=cuts, observed=observed, compute_p=False)


@part
def mixture(draw: Draw) -> None:
    weights = pm.Dirichlet(draw.name("weights"), np.ones(2))
    kinds = [
        lambda: pm.Normal.dist(draw.parameter(real), draw.parameter(positive)),
        lambda: pm.StudentT.dist(3.0, draw.parameter(real), draw.parameter(positive)),
        lambda: pm.Laplace.dist(draw.parameter(real), draw.parameter(positive)),
    ]
    parts = [draw.choose(kinds)() for _ in range(2)]
    pm.Mixture(draw.name("y"), weights, parts, observed=draw.rng.normal(size=ROWS))


@part
def normal_mixture(draw: Draw) -> None:
    means = pm.Normal(draw.name("means"), 0.0, 2.0, shape=2, transform=transforms.ordered, initval=[-1.0, 1.0])
    pm.NormalMixture(draw.name("y"), [0.3, 0.7], means, draw.parameter(positive), observed=draw.rng.normal(size=ROWS))


LIMITED = {
    "Normal": {"mu": real, "sigma": positive},
    "Exponential": {"lam": positive},
    "Gamma": {"alpha": positive, "beta": positive},
    "Laplace": {"mu": real, "b": positive},
    "Weibull": {"alpha": positive, "beta": positive},
    "LogNormal": {"mu": real, "sigma": positive},
}


@part
def truncated(draw: Draw) -> None:
    name = draw.choose(LIMITED)
    lower, upper = draw.choose([(0.2, None), (None, 3.0), (0.2, 3.0)])
    base = getattr(pm, name).dist(**draw.filled(LIMITED[name]))
    observed = draw.rng.choice([0.2, 0.5, 1.0, 3.0, 2.0], ROWS)
    if draw.chance(0.6):
        pm.Truncated(draw.name("y"), base, lower=lower, upper=upper, observed=observed)
    else:
        pm.Truncated(draw.name("free"), base, lower=lower, upper=upper)


@part
def censored(draw: Draw) -> None:
    name = draw.choose(LIMITED)
    lower, upper = draw.choose([(0.2, None), (None, 3.0), (0.2, 3.0)])
    base = getattr(pm, name).dist(**draw.filled(LIMITED[name]))
    pm.Censored(
        draw.name("y"), base, lower=lower, upper=upper, observed=draw.rng.choice([0.2, 0.5, 1.0, 3.0, 2.0], ROWS)
    )


@part
def potential(draw: Draw) -> None:
    x = draw.parameter(real)
    y = pt.as_tensor(draw.parameter(positive))
    terms = [-0.5 * x**2 * y, pt.switch(pt.gt(y, 0.5), -y, -(y**2)), pt.log(y), -pt.logaddexp(x, y), -abs(x - y)]
    pm.Potential(draw.name("potential"), pt.sum(draw.choose(terms)))


@part
def walk(draw: Draw) -> None:
    steps = pm.GaussianRandomWalk(
        draw.name("walk"), mu=draw.parameter(real), sigma=draw.parameter(positive), init_dist=pm.Normal.dist(), steps=4
    )
    pm.Normal(draw.name("y"), steps, 1.0, observed=draw.rng.normal(size=5))


@part
def autoregression(draw: Draw) -> None:
    weights = pm.Normal(draw.name("weights"), 0.0, 0.5, shape=2)
    pm.AR(draw.name("series"), weights, draw.parameter(positive), init_dist=pm.Normal.dist(0, 1, shape=2), steps=4)


@part
def sum_to_zero(draw: Draw) -> None:
    effect = pm.ZeroSumNormal(draw.name("effect"), draw.parameter(positive), shape=GROUPS)
    draw.reals.append(effect[0])


@part
def neighbours(draw: Draw) -> None:
    near = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    pm.CAR(draw.name("field"), np.zeros(3), near, draw.parameter(unit), draw.parameter(positive))


@part
def gaussian_process(draw: Draw) -> None:
    curve = pm.gp.cov.ExpQuad(1, ls=draw.parameter(positive) + 0.2) * draw.parameter(positive)
    process = pm.gp.Marginal(cov_func=curve)
    places = np.sort(draw.rng.uniform(0, 5, 5))[:, None]
    process.marginal_likelihood(draw.name("y"), places, draw.rng.normal(size=5), sigma=draw.parameter(positive) + 0.1)
