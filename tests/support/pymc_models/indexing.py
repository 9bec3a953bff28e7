"""Functions of arrays that models use: indexing, joining, interpolation, and plain mathematics."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from numbagraph.pymc_bridge.compatibility import conditional
from tests.support.pymc_models.zoo import zoo

rng = np.random.default_rng(23)
Y = rng.normal(size=12)


@zoo("arrays")
def pieces_put_together() -> pm.Model:
    """Concatenation, stacking, and assignment to a part"""
    with pm.Model() as model:
        a, b = pm.Normal("a", shape=5), pm.Normal("b", shape=3)
        joined = pt.concatenate([a, b, pt.zeros(4)])
        joined = pt.set_subtensor(joined[8:10], b[:2] * a[0])
        joined = pt.inc_subtensor(joined[[0, 0, 3]], pt.stack([a[1], b[1], b[2]]))
        pm.Normal("y", joined, 1.0, observed=Y)
    return model


@zoo("arrays")
def selected_by_a_mask() -> pm.Model:
    """Elements by a mask, and by rows and columns"""
    mask = np.arange(12) % 3 != 1
    with pm.Model() as model:
        x = pm.Normal("x", shape=12)
        m = pt.reshape(x, (3, 4))
        pm.Normal("y", x[mask], 1.0, observed=Y[mask])
        pm.Normal("z", m[[0, 2, 1], [1, 1, 3]] + m[:, ::2].sum(axis=1), 1.0, observed=Y[:3])
    return model


@zoo("arrays", far="where several elements are the largest, PyTensor gives all of them the whole derivative")
def sums_and_extrema() -> pm.Model:
    """Reductions along axes, means, norms and extrema"""
    with pm.Model() as model:
        x = pm.Normal("x", shape=(3, 4), initval=np.sin(np.arange(12.0)).reshape(3, 4))
        total = x.mean(axis=0) + x.max(axis=0) - x.min() + pt.prod(x, axis=0)
        pm.Normal("y", total, pt.sqrt(1 + pt.sum(x**2)), observed=Y[:4])
    return model


@zoo("arrays")
def conditions() -> pm.Model:
    """Choices by conditions on variables, clipped and rounded values"""
    with pm.Model() as model:
        x = pm.Normal("x", shape=12)
        mu = pt.switch(pt.gt(x, 0.5) | pt.lt(x, -1.0), pt.clip(x, -2.0, 2.0), pt.abs(x) * pt.sgn(Y))
        pm.Normal("y", pt.maximum(mu, -0.2) + pt.where(x > 0, x, 0.1 * x), 1.0, observed=Y)
    return model


@zoo("arrays")
def branches() -> pm.Model:
    """Branches of which PyTensor evaluates one"""
    with pm.Model() as model:
        x = pm.Normal("x", shape=2, initval=[0.5, 0.4])
        both = conditional.ifelse(x[1] > 0, pt.log(x[0]) + pt.log(x[1]), pt.log(x[0]) - x[1] ** 2)
        pm.Potential("p", conditional.ifelse(x[0] > 0, both, -pt.sum(x**2)))
    return model


@zoo("arrays")
def sorted_change_points() -> pm.Model:
    """Change points in any order, sorted"""
    with pm.Model() as model:
        points = pt.sort(pm.Uniform("points", 0.0, 12.0, shape=3, initval=[8.3, 2.6, 5.5]))
        level = pm.Normal("level", shape=4)
        pm.Normal("y", level[pt.searchsorted(points, np.arange(12.0))] + points[-1] - points[0], 1.0, observed=Y)
    return model


@zoo("arrays")
def mathematics() -> pm.Model:
    """Elementary and special functions"""
    with pm.Model() as model:
        x = pm.Uniform("x", 0.1, 0.9, shape=12)
        mu = pt.sin(x) + pt.cos(x) * pt.tan(x) + pt.arctan(x) + pt.arcsin(x) + pt.sinh(x) + pt.tanh(x)
        mu += pt.erf(x) + pt.erfc(x) + pt.erfinv(x) + pt.gammaln(x) + pt.psi(x) + pt.log1p(x) + pt.expm1(x)
        mu += pt.sigmoid(x) + pt.softplus(x) + pt.log1mexp(-x) + x**1.5 + pt.logaddexp(x, 1.0) + pt.log2(x)
        pm.Normal("y", mu, 1.0, observed=Y)
    return model


@zoo("arrays")
def products() -> pm.Model:
    """Matrix products, outer products and batches of them"""
    with pm.Model() as model:
        a, b = pm.Normal("a", shape=(3, 4)), pm.Normal("b", shape=4)
        batch = pt.stack([a, 2 * a])
        value = a @ b + pt.diag(pt.outer(b[:3], b[:3])) + (batch @ b).sum(axis=0) + pt.dot(a, a.T).sum(axis=1)
        value += pt.matmul(batch, pt.stack([a.T, a.T]))[0, 0] + pt.tensordot(a, b, axes=1)
        pm.Normal("y", value, 1.0, observed=Y[:3])
    return model


@zoo("arrays")
def interpolated_prior() -> pm.Model:
    """A prior given by points"""
    with pm.Model() as model:
        x = pm.Interpolated("x", np.linspace(0.0, 3.0, 20), np.exp(-np.linspace(0.0, 3.0, 20)))
        pm.Normal("y", x, 1.0, observed=Y)
    return model


@zoo("arrays")
def autocast_data() -> pm.Model:
    """Data of small integer dtypes and of single precision"""
    with pm.Model() as model:
        x = pm.Normal("x", shape=3)
        index = np.arange(12, dtype=np.int8) % 3
        pm.Normal("y", x[index] * Y.astype(np.float32), 1.0, observed=Y.astype(np.float32))
        pm.Poisson("k", pt.exp(x), observed=np.array([1, 2, 3], dtype=np.uint8))
    return model


@zoo("arrays")
def named_dimensions() -> pm.Model:
    """Mutable data with dimensions whose lengths follow from them"""
    with pm.Model(coords={"side": ["l", "r"]}) as model:
        data = pm.Data("data", Y.reshape(6, 2), dims=("row", "side"))
        mu = pm.Normal("mu", dims="side")
        scale = pm.HalfNormal("scale", dims="row")
        pm.Normal("y", mu[None, :], scale[:, None], observed=data, dims=("row", "side"))
    return model
