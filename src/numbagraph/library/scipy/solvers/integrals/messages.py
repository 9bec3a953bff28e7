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
