"""Windows of signals, and frequencies of transforms, as long as an argument."""

import numpy as np
import pytest
from scipy import fft, signal

from numbagraph import graph_jit

RNG = np.random.default_rng(0)


def test_windows_and_frequencies_of_lengths_of_arguments():
    """Windows have a version for each length; frequencies are computed for any."""
    functions = (
        lambda x, s: fft.fftfreq(len(x), s),
        lambda x, s: fft.rfftfreq(x.shape[0], d=s) + x[0],
        lambda x, s: signal.windows.gaussian(len(x), s) * x,
        lambda x, s: signal.windows.general_gaussian(len(x) + 1, s, 2.0, sym=False),
        lambda x, s: signal.windows.kaiser(len(x), s) * x,
    )
    for function in functions:
        compiled = graph_jit(function)
        for length in (1, 6, 7, 6):
            x = RNG.normal(size=length)
            np.testing.assert_allclose(compiled(x, 2.5), function(x, 2.5), rtol=1e-12)
    with pytest.raises(TypeError, match="gaussian needs a number that is known"):
        graph_jit(lambda x, s: signal.windows.gaussian(np.argmax(x), s))(np.ones(3), 2.0)
