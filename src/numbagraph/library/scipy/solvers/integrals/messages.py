"""SciPy's texts for what QUADPACK's statuses say."""

from __future__ import annotations

SUBDIVISIONS = (
    "The maximum number of subdivisions ({limit}) has been achieved.\n  If increasing the limit yields no improvement "
    "it is advised to analyze \n  the integrand in order to determine the difficulties.  If the position of a \n  "
    "local difficulty can be determined (singularity, discontinuity) one will \n  probably gain from splitting up the "
    "interval and calling the integrator \n  on the subranges.  Perhaps a special-purpose integrator should be used."
)
ROUNDOFF = (
    "The occurrence of roundoff error is detected, which prevents \n  the requested tolerance from being achieved.  "
    "The error may be \n  underestimated."
)
BAD = "Extremely bad integrand behavior occurs at some points of the\n  integration interval."
NO_LIMIT = (
    "The algorithm does not converge.  Roundoff error is detected\n  in the extrapolation table.  It is assumed that "
    "the requested tolerance\n  cannot be achieved, and that the returned result (if full_output = 1) is \n  the best "
    "which can be obtained."
)
DIVERGENT = "The integral is probably divergent, or slowly convergent."


def messages(limit: int) -> list[str]:
    """Return the texts for the statuses from 1 to 5, as `scipy.integrate.quad` warns."""
    return [SUBDIVISIONS.format(limit=limit), ROUNDOFF, BAD, NO_LIMIT, DIVERGENT]


MANY_CYCLES = (
    "The maximum number of cycles allowed has been achieved., e.e.\n  of subintervals (a+(k-1)c, a+kc) where c = "
    "(2*int(abs(omega)+1))\n  *pi/abs(omega), for k = 1, 2, ..., lst.  One can allow more cycles by increasing the "
    "value of limlst.  Look at info['ierlst'] with full_output=1."
)
NO_LIMIT_OF_CYCLES = (
    "The extrapolation table constructed for convergence acceleration\n  of the series formed by the integral "
    "contributions over the cycles, \n  does not converge to within the requested accuracy.  Look at \n  "
    "info['ierlst'] with full_output=1."
)
INVALID = "The input is invalid."
BAD_CYCLES = (
    "Bad integrand behavior occurs within one or more of the cycles.\n  Location and type of the difficulty involved "
    "can be determined from \n  the vector info['ierlist'] obtained with full_output=1."
)


def messages_of_cycles(limit: int) -> list[str]:
    """Return the texts for the statuses of an integral over cycles, from 1 to 7."""
    texts = messages(limit)
    return [MANY_CYCLES, *texts[1:3], NO_LIMIT_OF_CYCLES, texts[4], INVALID, BAD_CYCLES]
