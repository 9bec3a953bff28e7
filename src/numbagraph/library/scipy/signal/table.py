"""The table of the functions of `scipy.signal`."""

from __future__ import annotations

from typing import Any

from numbagraph.library.scipy.arguments import Function
from numbagraph.library.scipy.signal.analytic_signals import ANALYTIC
from numbagraph.library.scipy.signal.convolution import CONVOLUTIONS
from numbagraph.library.scipy.signal.denoising import DENOISING
from numbagraph.library.scipy.signal.forms import FORMS
from numbagraph.library.scipy.signal.linear_systems import SYSTEMS
from numbagraph.library.scipy.signal.peaks import PEAKS
from numbagraph.library.scipy.signal.recursive_designs import RECURSIVE_DESIGNS
from numbagraph.library.scipy.signal.recursive_filters import RECURSIONS
from numbagraph.library.scipy.signal.resampling import RESAMPLING
from numbagraph.library.scipy.signal.responses import RESPONSES
from numbagraph.library.scipy.signal.short_time import SHORT_TIME
from numbagraph.library.scipy.signal.smoothing import savgol_filter
from numbagraph.library.scipy.signal.spectra import SPECTRA
from numbagraph.library.scipy.signal.state_space import STATE_SPACE
from numbagraph.library.scipy.signal.transformations import TRANSFORMATIONS
from numbagraph.library.scipy.signal.trends import detrend
from numbagraph.library.scipy.signal.waveforms import WAVEFORMS
from numbagraph.library.scipy.signal.window_designs import WINDOW_DESIGNS

FUNCTIONS: dict[str, Function] = {
    **STATE_SPACE,
    **DENOISING,
    **PEAKS,
    **SYSTEMS,
    **WINDOW_DESIGNS,
    **TRANSFORMATIONS,
    **RESPONSES,
    **RECURSIVE_DESIGNS,
    **FORMS,
    **ANALYTIC,
    **CONVOLUTIONS,
    **RECURSIONS,
    **RESAMPLING,
    **SHORT_TIME,
    **SPECTRA,
    **WAVEFORMS,
    **{each.__name__: each for each in (savgol_filter, detrend)},
}

OBJECTS: dict[str, Any] = {}
