"""Models with loops, as people write them with `pytensor.scan`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

from tests.support.pymc_models.zoo import zoo

rng = np.random.default_rng(26)
Y = np.cumsum(rng.normal(0.0, 0.3, 30))
PAIRS = rng.normal(size=(25, 2)).cumsum(axis=0) * 0.3
COUNTS = np.array([3, 5, 9, 14, 22, 30, 41, 38, 33, 21, 15, 8])
STATES = np.concatenate([rng.normal(centre, 0.4, 8) for centre in (-1.0, 1.0, 0.2, -1.0)])


def scan(step: Any, **options: Any) -> Any:
    return pytensor.scan(step, return_updates=False, **options)


@zoo("recurrences")
def autoregression_by_scan() -> pm.Model:
    """An AR(2) process whose errors are computed in a loop over lags"""
    with pm.Model() as model:
        rho, sigma = pm.Normal("rho", 0.0, 0.5, shape=2), pm.HalfNormal("sigma")
        means = scan(
            lambda one, two, rho: rho[0] * one + rho[1] * two,
            sequences={"input": pt.as_tensor(Y), "taps": [-1, -2]},
            non_sequences=[rho],
        )
        pm.Normal("y", means, sigma, observed=Y[2:])
    return model


@zoo("recurrences")
def latent_autoregression() -> pm.Model:
    """A latent AR(2) process, made of its innovations"""
    with pm.Model() as model:
        rho, z = pm.Normal("rho", 0.0, 0.3, shape=2), pm.Normal("z", shape=30)
        x = scan(
            lambda e, one, two, rho: rho[0] * one + rho[1] * two + e,
            sequences=[z * pm.HalfNormal("scale")],
            outputs_info=[{"initial": pt.zeros(2), "taps": [-1, -2]}],
            non_sequences=[rho],
        )
        pm.Normal("y", x, 0.3, observed=Y)
    return model


@zoo("recurrences")
def moving_average() -> pm.Model:
    """An MA(2) process: the errors before are carried"""
    with pm.Model() as model:
        theta, sigma = pm.Uniform("theta", -0.5, 0.5, shape=2), pm.HalfNormal("sigma")
        errors = scan(
            lambda y, one, two, theta: y - theta[0] * one - theta[1] * two,
            sequences=[pt.as_tensor(Y)],
            outputs_info=[{"initial": pt.zeros(2), "taps": [-1, -2]}],
            non_sequences=[theta],
        )
        pm.Potential("y", pm.logp(pm.Normal.dist(0.0, sigma), errors).sum())
    return model


@zoo("recurrences")
def garch_with_leverage() -> pm.Model:
    """A GARCH(1,1) process in which losses weigh more"""
    returns = np.diff(Y)
    with pm.Model() as model:
        omega, gamma = pm.HalfNormal("omega", 0.1), pm.HalfNormal("gamma", 0.2)
        alpha, beta = pm.Beta("alpha", 1.0, 5.0), pm.Beta("beta", 5.0, 1.0)
        first = pm.HalfNormal("first") ** 2
        variance = scan(
            lambda y, before, omega, alpha, gamma, beta: (
                omega + (alpha + pt.switch(y < 0, gamma, 0.0)) * y**2 + beta * before
            ),
            sequences=[pt.as_tensor(returns[:-1])],
            outputs_info=[first],
            non_sequences=[omega, alpha, gamma, beta],
        )
        pm.Normal("y", 0.0, pt.sqrt(pt.concatenate([first[None], variance])), observed=returns)
    return model


@zoo("recurrences")
def vector_autoregression() -> pm.Model:
    """A latent VAR(2) process of two series, with correlated errors"""
    with pm.Model() as model:
        lags = pm.Normal("lags", 0.0, 0.3, shape=(2, 2, 2))
        chol, _, _ = pm.LKJCholeskyCov("chol", n=2, eta=2.0, sd_dist=pm.HalfNormal.dist(1.0), compute_corr=True)
        z = pm.Normal("z", shape=(25, 2))
        states = scan(
            lambda z, one, two, lags, chol: lags[0] @ one + lags[1] @ two + chol @ z,
            sequences=[z],
            outputs_info=[{"initial": pt.zeros((2, 2)), "taps": [-1, -2]}],
            non_sequences=[lags, chol],
        )
        pm.Normal("y", states, 0.2, observed=PAIRS)
    return model


@zoo("recurrences")
def censored_random_walk() -> pm.Model:
    """A random walk with drift that is seen up to a limit"""
    with pm.Model() as model:
        drift, sigma, z = pm.Normal("drift"), pm.HalfNormal("sigma"), pm.Normal("z", shape=30)
        level = scan(
            lambda z, before, drift, sigma: before + 0.1 * drift + sigma * z,
            sequences=[z],
            outputs_info=[pm.Normal("start")],
            non_sequences=[drift, sigma],
        )
        seen = np.minimum(Y, 0.5)
        pm.Censored("y", pm.Normal.dist(level, 0.3), lower=None, upper=0.5, observed=seen)
    return model


@zoo("recurrences")
def smoothing_with_seasons() -> pm.Model:
    """Holt and Winters' exponential smoothing: level, trend and a season whose values take turns"""

    def step(y: Any, level: Any, trend: Any, season: Any, alpha: Any, beta: Any, gamma: Any) -> Any:
        now = alpha * (y - season[0]) + (1 - alpha) * (level + trend)
        slope = beta * (now - level) + (1 - beta) * trend
        new = gamma * (y - now) + (1 - gamma) * season[0]
        return now, slope, pt.concatenate([season[1:], new[None]]), level + trend + season[0]

    with pm.Model() as model:
        weights = [pm.Beta(name, 2.0, 5.0) for name in ("alpha", "beta", "gamma")]
        _, _, _, forecast = scan(
            step,
            sequences=[pt.as_tensor(Y)],
            outputs_info=[pm.Normal("level"), pm.Normal("trend"), pm.Normal("season", shape=4), None],
            non_sequences=weights,
        )
        pm.Normal("y", forecast, pm.HalfNormal("sigma"), observed=Y)
    return model


@zoo("recurrences")
def hidden_markov() -> pm.Model:
    """Hidden states, summed out by the forward algorithm"""
    with pm.Model() as model:
        start, transition = pm.Dirichlet("start", np.ones(3)), pm.Dirichlet("transition", np.ones((3, 3)))
        means = pm.Normal("means", [-1.0, 0.0, 1.0], 1.0)
        densities = pm.logp(pm.Normal.dist(means, pm.HalfNormal("sigma")), pt.as_tensor(STATES)[:, None])
        forward = scan(
            lambda density, before, transition: density + pt.logsumexp(before[:, None] + pt.log(transition), axis=0),
            sequences=[densities[1:]],
            outputs_info=[pt.log(start) + densities[0]],
            non_sequences=[transition],
        )
        pm.Potential("y", pt.logsumexp(forward[-1]))
    return model


@zoo("recurrences")
def scaled_hidden_markov() -> pm.Model:
    """Several series of hidden states, by the forward algorithm with scaled probabilities"""
    series = np.random.default_rng(4).poisson(3.0, size=(4, 12))

    def step(likelihood: Any, before: Any, transition: Any) -> Any:
        joint = (before @ transition) * likelihood
        total = joint.sum(axis=1)
        return joint / total[:, None], pt.log(total)

    with pm.Model() as model:
        transition, rate = pm.Dirichlet("transition", np.full((2, 2), 2.0)), pm.Gamma("rate", [2.0, 8.0], 1.0)
        likelihood = pt.exp(pm.logp(pm.Poisson.dist(rate), pt.as_tensor(series.T)[:, :, None]))
        _, logs = scan(
            step,
            sequences=[likelihood],
            outputs_info=[pt.as_tensor(np.full((4, 2), 0.5)), None],
            non_sequences=[transition],
        )
        pm.Potential("y", logs.sum())
    return model


@zoo("recurrences")
def hidden_semi_markov() -> pm.Model:
    """Hidden states that last for drawn durations: the states are pairs of a state and what is left of its time"""
    longest = 5

    def step(density: Any, before: Any, transition: Any, durations: Any) -> Any:
        entered = pt.logsumexp(before[:, 0, None] + transition, axis=0)[:, None] + durations
        stayed = pt.concatenate([before[:, 1:], pt.full((3, 1), -np.inf)], axis=1)
        return pt.logaddexp(entered, stayed) + density[:, None]

    with pm.Model() as model:
        rows = pm.Dirichlet("rows", np.ones((3, 2)))
        away = np.array([[1, 2], [0, 2], [0, 1]])
        transition = pt.set_subtensor(pt.full((3, 3), -np.inf)[np.arange(3)[:, None], away], pt.log(rows))
        rate, means = pm.Gamma("rate", 3.0, 1.0, shape=3), pm.Normal("means", [-1.0, 0.0, 1.0], 0.5)
        durations = pm.logp(pm.Poisson.dist(rate[:, None]), pt.arange(longest)[None, :])
        durations = durations - pt.logsumexp(durations, axis=1, keepdims=True)
        densities = pm.logp(pm.Normal.dist(means, 0.5), pt.as_tensor(STATES)[:, None])
        forward = scan(
            step,
            sequences=[densities[1:]],
            outputs_info=[durations - np.log(3) + densities[0][:, None]],
            non_sequences=[transition, durations],
        )
        pm.Potential("y", pt.logsumexp(forward[-1]))
    return model


@zoo("recurrences", far="where all noise is small, what the filter subtracts cancels, and rounding is most of the rest")
def kalman_filter() -> pm.Model:
    """A local linear trend, its states integrated out by Kalman's filter"""

    def step(y: Any, mean: Any, cov: Any, a: Any, q: Any, h: Any, r: Any) -> Any:
        mean, cov = a @ mean, a @ cov @ a.T + q
        innovation, spread = y - h @ mean, h @ cov @ h.T + r
        gain = pt.linalg.solve(spread, h @ cov, assume_a="pos").T
        _, determinant = pt.linalg.slogdet(spread)
        quadratic = innovation @ pt.linalg.solve(spread, innovation, assume_a="pos")
        logp = -0.5 * (quadratic + determinant + np.log(2 * np.pi))
        return mean + gain @ innovation, (pt.eye(2) - gain @ h) @ cov, logp

    with pm.Model() as model:
        level, slope, noise = (pm.HalfNormal(name) for name in ("level", "slope", "noise"))
        a, h = pt.as_tensor([[1.0, 1.0], [0.0, 1.0]]), pt.as_tensor([[1.0, 0.0]])
        q, r = pt.diag(pt.stack([level, slope]) ** 2), pt.eye(1) * noise**2
        _, _, logp = scan(
            step,
            sequences=[pt.as_tensor(Y)[:, None]],
            outputs_info=[pm.Normal("start", shape=2), pt.eye(2), None],
            non_sequences=[a, q, h, r],
        )
        pm.Potential("y", logp.sum())
    return model


@zoo("recurrences", far="where the noise is small, 1 - gain cancels")
def filter_with_gaps() -> pm.Model:
    """A local level by Kalman's filter, in which some values have not been seen"""
    seen = np.where(np.arange(30) % 4 == 2, np.nan, Y)

    def step(y: Any, mean: Any, variance: Any, level: Any, noise: Any) -> Any:
        variance = variance + level**2
        gap = pt.isnan(y)
        error, spread = pt.switch(gap, 0.0, y - mean), variance + noise**2
        gain = pt.switch(gap, 0.0, variance / spread)
        logp = pt.switch(gap, 0.0, -0.5 * (pt.log(2 * np.pi * spread) + error**2 / spread))
        return mean + gain * error, (1 - gain) * variance, logp

    with pm.Model() as model:
        level, noise = pm.HalfNormal("level"), pm.HalfNormal("noise")
        _, _, logp = scan(
            step,
            sequences=[pt.as_tensor(seen)],
            outputs_info=[pm.Normal("start"), pt.as_tensor(np.float64(1.0)), None],
            non_sequences=[level, noise],
        )
        pm.Potential("y", logp.sum())
    return model


@zoo("recurrences")
def predator_and_prey() -> pm.Model:
    """A differential equation by Runge and Kutta's method"""
    h = 0.1

    def slope(y: Any, p: Any) -> Any:
        return pt.stack([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]])

    def step(y: Any, p: Any) -> Any:
        one = slope(y, p)
        two = slope(y + h / 2 * one, p)
        three = slope(y + h / 2 * two, p)
        four = slope(y + h * three, p)
        return y + h / 6 * (one + 2 * two + 2 * three + four)

    with pm.Model() as model:
        p = pm.LogNormal("p", np.log([0.6, 0.3, 0.2, 0.6]), 0.1)
        path = scan(step, outputs_info=[pm.LogNormal("start", shape=2)], non_sequences=[p], n_steps=40)
        data = np.exp(np.random.default_rng(2).normal(0.5, 0.2, size=(10, 2)))
        pm.LogNormal("y", pt.log(path[3::4]), pm.HalfNormal("sigma"), observed=data)
    return model


@zoo("recurrences")
def epidemic() -> pm.Model:
    """Susceptible, infected, recovered, with counts of new infections and a rate that changes"""

    def step(rate: Any, s: Any, i: Any, r: Any, recovery: Any, size: Any) -> Any:
        new, healed = rate * s * i / size, recovery * i
        return s - new, i + new - healed, r + healed, new

    with pm.Model() as model:
        rate, recovery = pm.LogNormal("rate", 0.0, 0.3, shape=12), pm.Beta("recovery", 4.0, 8.0)
        first = pm.LogNormal("first", 1.0, 0.5)
        size = pt.constant(500.0)
        _, _, _, new = scan(
            step,
            sequences=[rate],
            outputs_info=[size - first, first, pt.zeros_like(first), None],
            non_sequences=[recovery, size],
        )
        pm.NegativeBinomial("y", mu=new, alpha=pm.Exponential("alpha", 1.0), observed=COUNTS)
    return model


@zoo("recurrences")
def learning_from_rewards() -> pm.Model:
    """Q-learning: the value of what was chosen moves towards the reward"""
    draws = np.random.default_rng(7)
    actions, rewards = draws.integers(0, 3, 40), draws.integers(0, 2, 40).astype(float)

    def step(action: Any, reward: Any, values: Any, alpha: Any) -> Any:
        return pt.set_subtensor(values[action], values[action] + alpha * (reward - values[action]))

    with pm.Model() as model:
        alpha, beta = pm.Beta("alpha", 1.0, 1.0), pm.HalfNormal("beta", 5.0)
        values = scan(
            step,
            sequences=[pt.as_tensor(actions), pt.as_tensor(rewards)],
            outputs_info=[pt.as_tensor(np.full(3, 0.5))],
            non_sequences=[alpha],
        )
        before = pt.concatenate([np.full((1, 3), 0.5), values[:-1]])
        pm.Categorical("y", logit_p=beta * before, observed=actions)
    return model


@zoo("recurrences")
def loop_in_a_loop() -> pm.Model:
    """Several small steps of an equation between two observations"""

    def small(x: Any, force: Any, rate: Any) -> Any:
        return x + 0.05 * (force - rate * pt.tanh(x))

    def step(force: Any, x: Any, rate: Any) -> Any:
        return scan(small, outputs_info=[x], non_sequences=[force, rate], n_steps=5)[-1]

    with pm.Model() as model:
        rate, forces = pm.HalfNormal("rate"), pm.Normal("forces", shape=10)
        x = scan(step, sequences=[forces], outputs_info=[pm.Normal("start")], non_sequences=[rate])
        pm.Normal("y", x, pm.HalfNormal("sigma"), observed=Y[:10])
    return model
