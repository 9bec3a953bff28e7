"""Responses of linear systems in time and frequency: one matrix exponential, and a loop that carries the state."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.api.loops import scan
from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.ir.op import load
from numbagraph.library.scipy.arguments import Function, array, inexact, known, refuse, require
from numbagraph.library.scipy.linalg.matrix_functions import expm
from numbagraph.library.scipy.signal.responses import freqs, freqs_zpk, freqz, freqz_zpk
from numbagraph.library.scipy.signal.state_space import matrices_of, ss2tf, ss2zpk, tf2ss, zpk2ss


def blocks(rows: list[list[Any]]) -> Any:
    return np.concatenate([np.concatenate(row, axis=1) for row in rows])


def squeezed(values: Any) -> Any:
    """Return values without the axes of length 1."""
    return np.squeeze(values, tuple(axis for axis, length in enumerate(known(values, "a system")) if length == 1))


def states(first: Any, transition: Any, inputs: Any) -> Any:
    """The states, as rows: each is the one before times a matrix, and what comes in."""

    def step(state: Any, entering: Any) -> tuple[Any, Any]:
        following = state @ transition + entering
        return following, following

    _, later = scan(step, first, inputs)
    return np.concatenate([first[None], later])


def lsim(system: Any, U: Any, T: Any, X0: Any = None, interp: bool = True) -> tuple[Any, Any, Any]:
    """`scipy.signal.lsim`."""
    a, b, c, d, _ = matrices_of(system)
    times = np.atleast_1d(array(T))
    if times.ndim != 1:
        raise ValueError("T must be a rank-1 array.")
    (count,), (order, inputs) = known(times, "lsim"), known(b, "lsim")
    require(times[0] >= 0, "Initial time must be nonnegative")
    state = np.broadcast_to(np.zeros(order) if X0 is None else inexact(X0), (order,)).astype(a.dtype)
    if is_traced(times) or times[0] != 0:
        state = state @ expm(a.T * times[0])
    is_still = U is None or (not is_traced(U) and np.ndim(U) == 0 and U == 0)
    given = np.zeros((count, inputs)) if is_still else np.atleast_1d(inexact(U))
    given = given[:, None] if given.ndim == 1 else given
    if count == 1:
        found = state[None] @ c.T + given @ d.T
        return times, squeezed(found), squeezed(state[None])
    steps = times[1:] - times[:-1]
    step = steps[0]
    require(np.all(np.abs(steps - step) <= 1e-8 + 1e-5 * np.abs(step)), "Time steps are not equally spaced.")
    if known(given, "lsim")[0] != count:
        raise ValueError("U must have the same number of rows as elements in T.")
    if known(given, "lsim")[1] != inputs:
        raise ValueError("System does not define that many inputs.")
    transition, before, after = held(a, b, step, interp)
    entering = given[:-1] @ before + (given[1:] @ after if interp else 0.0)
    found = states(state, transition, entering)
    return times, squeezed(found @ c.T + given @ d.T), squeezed(found)


def held(a: Any, b: Any, step: Any, interp: bool) -> tuple[Any, Any, Any]:
    """Return what a state, an input, and the one that follows add to the next state. Between two times the input is
    held, or a line."""
    order, inputs = known(b, "lsim")
    none = np.zeros((inputs, order + inputs))
    if not interp:
        found = expm(blocks([[a * step, b * step], [none]]).T)
        return found[:order, :order], found[order:, :order], None
    rows = [[a * step, b * step, np.zeros((order, inputs))], [none, np.eye(inputs)], [none, np.zeros((inputs, inputs))]]
    found = expm(blocks(rows).T)
    after = found[order + inputs :, :order]
    return found[:order, :order], found[order : order + inputs, :order] - after, after


def usual_times(a: Any, N: Any) -> Any:
    """Times until the slowest mode has faded."""
    slowest = np.min(np.abs(np.real(np.linalg.eigvals(a))))
    return np.linspace(0.0, 7 / np.where(slowest == 0, 1.0, slowest), 100 if N is None else int(N))


def impulse(system: Any, X0: Any = None, T: Any = None, N: Any = None) -> tuple[Any, Any]:
    """`scipy.signal.impulse`."""
    a, b, c, d, _ = matrices_of(system)
    times = usual_times(a, N) if T is None else array(T)
    start = squeezed(b if X0 is None else b + array(X0))
    return times, lsim((a, b, c, d), 0.0, times, start, interp=False)[1]


def step(system: Any, X0: Any = None, T: Any = None, N: Any = None) -> tuple[Any, Any]:
    """`scipy.signal.step`."""
    a, b, c, d, _ = matrices_of(system)
    times = usual_times(a, N) if T is None else array(T)
    return lsim((a, b, c, d), np.ones(known(times, "step")), times, X0, interp=False)[:2]


def dlsim(system: Any, u: Any, t: Any = None, x0: Any = None) -> Any:
    """`scipy.signal.dlsim`."""
    a, b, c, d, dt = matrices_of(system, discrete=True)
    given = np.atleast_1d(inexact(u))
    given = given[:, None] if given.ndim == 1 else given
    count = known(given, "dlsim")[0]
    if not count:
        raise IndexError("index 0 is out of bounds for axis 0 with size 0")
    end = (count - 1) * dt
    if t is not None:
        if is_traced(t, dt):
            refuse("scipy.signal.dlsim at traced times, or with a traced step", "leave t= out")
        end, count = t[-1], int(np.floor(t[-1] / dt)) + 1
    times = np.linspace(0.0, end, num=count)
    if t is not None:  # SciPy's straight lines between the inputs, as a matrix
        given = load("scipy.interpolate:make_interp_spline")(t, np.eye(len(t)), k=1)(times) @ given
    order = known(a, "dlsim")[0]
    start = np.broadcast_to(np.zeros(order) if x0 is None else inexact(x0), (order,)).astype(np.float64)
    found = states(start, a.T, given[: count - 1] @ b.T)
    results = times, found @ c.T + given @ d.T
    is_space = len(system) == 5 if isinstance(system, tuple) else isinstance(system, load("scipy.signal:StateSpace"))
    return (*results, found) if is_space else results


def of_each_input(system: Any, x0: Any, t: Any, n: Any, is_pulse: bool) -> tuple[Any, tuple[Any, ...]]:
    a, b, c, d, dt = matrices_of(system, discrete=True)
    if is_traced(t, dt):
        refuse("a discrete system's response at traced times, or with a traced step", "scipy.signal.dlsim, without t=")
    count = 100 if n is None else int(n)
    times = np.linspace(0, count * dt, count, endpoint=False) if t is None else np.asarray(t)
    inputs = known(b, "dstep")[1]
    found, shown = [], None
    for number in range(inputs):
        given = np.zeros((len(times), inputs))
        given[: 1 if is_pulse else None, number] = 1.0
        shown, values, _ = dlsim((a, b, c, d, dt), given, times, x0)
        found.append(values)
    return shown, tuple(found)


def dimpulse(system: Any, x0: Any = None, t: Any = None, n: Any = None) -> tuple[Any, tuple[Any, ...]]:
    """`scipy.signal.dimpulse`."""
    return of_each_input(system, x0, t, n, True)


def dstep(system: Any, x0: Any = None, t: Any = None, n: Any = None) -> tuple[Any, tuple[Any, ...]]:
    """`scipy.signal.dstep`."""
    return of_each_input(system, x0, t, n, False)


def cont2discrete(system: Any, dt: Any, method: str = "zoh", alpha: Any = None) -> tuple[Any, ...]:
    """`scipy.signal.cont2discrete`."""
    if hasattr(system, "to_discrete"):
        refuse("scipy.signal.cont2discrete of a system with a traced step", "pass the tuple of its parts")
    if len(system) == 2:
        return *ss2tf(*cont2discrete(tf2ss(*system), dt, method, alpha)[:4]), dt
    if len(system) == 3:
        return *ss2zpk(*cont2discrete(zpk2ss(*system), dt, method, alpha)[:4]), dt
    if len(system) != 4:
        raise ValueError("First argument must either be a tuple of 2 (tf), 3 (zpk), or 4 (ss) arrays.")
    a, b, c, d = (convert(each) for convert, each in zip((inexact, inexact, array, array), system, strict=True))
    shares = {
        "bilinear": 0.5, "tustin": 0.5, "euler": 0.0, "forward_diff": 0.0, "backward_diff": 1.0, "gbt": alpha,
    }  # fmt: skip
    if method in shares:
        if shares[method] is None:
            text = "Alpha parameter must be specified for the generalized bilinear transform (gbt) method"
            raise ValueError(text)
        return *by_share(a, b, c, d, dt, shares[method]), dt
    held_by = {"zoh": by_steps, "foh": by_lines, "impulse": by_pulses}
    if method not in held_by:
        raise ValueError(f"Unknown transformation method '{method}'")
    return *held_by[method](a, b, c, d, dt), dt


def by_share(a: Any, b: Any, c: Any, d: Any, dt: Any, alpha: Any) -> tuple[Any, Any, Any, Any]:
    """The generalised bilinear transformation."""
    inside = (array(alpha) >= 0) & (array(alpha) <= 1)
    require(inside, "Alpha parameter must be within the interval [0,1] for the gbt method")
    identity = np.eye(known(a, "cont2discrete")[0])
    matrix = identity - alpha * dt * a
    entering = np.linalg.solve(matrix, dt * b)
    leaving = np.linalg.solve(matrix.T, c.T).T
    return np.linalg.solve(matrix, identity + (1.0 - alpha) * dt * a), entering, leaving, d + alpha * (c @ entering)


def by_steps(a: Any, b: Any, c: Any, d: Any, dt: Any) -> tuple[Any, Any, Any, Any]:
    order, inputs = known(b, "cont2discrete")
    found = expm(dt * blocks([[a, b], [np.zeros((inputs, order + inputs))]]))[:order]
    return found[:, :order], found[:, order:], c, d


def by_lines(a: Any, b: Any, c: Any, d: Any, dt: Any) -> tuple[Any, Any, Any, Any]:
    order, inputs = known(b, "cont2discrete")
    none = np.zeros((inputs, order + inputs))
    rows = [[a * dt, b * dt, np.zeros((order, inputs))], [none, np.eye(inputs)], [none, np.zeros((inputs, inputs))]]
    found = expm(blocks(rows))[:order]
    first, second, third = found[:, :order], found[:, order : order + inputs], found[:, order + inputs :]
    return first, second - third + first @ third, c, d + c @ third


def by_pulses(a: Any, b: Any, c: Any, d: Any, dt: Any) -> tuple[Any, Any, Any, Any]:
    require(np.all(np.abs(d) <= 1e-8), "Impulse method is only applicable to strictly proper systems")
    found = expm(a * dt)
    return found, found @ b * dt, c, c @ b * dt


def freqresp(system: Any, w: Any = None, n: Any = 10000) -> tuple[Any, Any]:
    """`scipy.signal.freqresp`."""
    points = n if w is None else w
    if isinstance(system, load("scipy.signal:lti")):
        roots = system.to_zpk()
        return freqs_zpk(roots.zeros, roots.poles, roots.gain, points)
    if isinstance(system, load("scipy.signal:dlti")):
        raise AttributeError("freqresp can only be used with continuous-time systems.")
    if len(system) == 3:
        zeros, poles, gain = system
        return freqs_zpk(zeros, poles, gain, points)
    above, below = ss2tf(*system) if len(system) == 4 else system
    return freqs(np.ravel(array(above)), below, points)


def bode(system: Any, w: Any = None, n: Any = 100) -> tuple[Any, Any, Any]:
    """`scipy.signal.bode`."""
    points, found = freqresp(system, w, n)
    return points, 20.0 * np.log10(np.abs(found)), np.unwrap(np.angle(found)) * 180.0 / np.pi


def dfreqresp(system: Any, w: Any = None, n: Any = 10000, whole: bool = False) -> tuple[Any, Any]:
    """`scipy.signal.dfreqresp`."""
    points = n if w is None else w
    if isinstance(system, load("scipy.signal:lti")):
        raise AttributeError("dfreqresp can only be used with discrete-time systems.")
    if isinstance(system, load("scipy.signal:dlti")):
        roots = system.to_zpk()
        return freqz_zpk(roots.zeros, roots.poles, roots.gain, points, whole)
    if len(system) == 4:
        zeros, poles, gain, _ = system
        return freqz_zpk(zeros, poles, gain, points, whole)
    above, below = ss2tf(*system[:4]) if len(system) == 5 else system[:2]
    above, below = np.ravel(inexact(above)), np.atleast_1d(inexact(below))
    missing = known(below, "dfreqresp")[0] - known(above, "dfreqresp")[0]
    return freqz(np.pad(above, (max(missing, 0), 0)), np.pad(below, (max(-missing, 0), 0)), points, whole)


def dbode(system: Any, w: Any = None, n: Any = 100) -> tuple[Any, Any, Any]:
    """`scipy.signal.dbode`."""
    points, found = dfreqresp(system, w, n)
    dt = system[-1] if isinstance(system, tuple) else system.dt
    return points / dt, 20.0 * np.log10(np.abs(found)), np.rad2deg(np.unwrap(np.angle(found)))


SYSTEMS: dict[str, Function] = {
    each.__name__: each
    for each in (
        bode, cont2discrete, dbode, dfreqresp, dimpulse, dlsim, dstep, freqresp, impulse, lsim, step,
    )
}  # fmt: skip
