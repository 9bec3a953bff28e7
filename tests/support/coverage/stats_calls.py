"""Calls of `scipy.stats`: all methods of each distribution that people use, by its shapes."""

CONTINUOUS = """
norm uniform expon cauchy laplace logistic gumbel_r gumbel_l halfnorm halfcauchy rayleigh maxwell
gamma: 1 + q
chi2: 1 + q
invgamma: 1 + q
weibull_min: 1 + q
weibull_max: 1 + q
pareto: 1 + q
t: 1 + q
chi: 1 + q
fisk: 1 + q
lognorm: 1 + q
powerlaw: 1 + q
beta: 1 + p, 1 + q
f: 1 + p, 1 + q
betaprime: 1 + p, 1 + q
triang: q
truncnorm: -p, q
genextreme: q
genpareto: q
skewnorm: q
vonmises: q
exponnorm: 1 + q
invgauss: q
"""
DISCRETE = """
poisson: 1 + q
binom: 7, q
bernoulli: q
geom: q
nbinom: 3, q
hypergeom: 20, 7, 12
randint: 0, 9
betabinom: 7, 1 + p, 1 + q
logser: q
zipf: 2 + q
"""
METHODS = {
    "continuous": "pdf logpdf cdf logcdf sf logsf ppf".split(),
    "discrete": "pmf logpmf cdf logcdf sf logsf ppf".split(),
}


def calls() -> dict[str, str]:
    """A call of each method of each distribution, by both their names."""
    found = {}
    for text, methods, place in (
        (CONTINUOUS, METHODS["continuous"], "x"),
        (DISCRETE, METHODS["discrete"], "i"),
    ):
        for line in text.strip().splitlines():
            names, _, shapes = line.partition(": ")
            for name in names.split():
                for method in methods:
                    arguments = ", ".join(filter(None, ("x" if method == "ppf" else place, shapes)))
                    found[f"{name}.{method}"] = f"stats.{name}.{method}({arguments})"
    return dict(sorted(found.items()))
