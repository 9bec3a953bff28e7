"""The interface of a compiled function for callers in native code: other compiled code, `@njit` functions, and C."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numbagraph.ir.later import Later
from numbagraph.jit.binding import Arguments, Key
from numbagraph.jit.native_layouts import c_layout, embed
from numbagraph.purity.environment import Made, Reach
from numbagraph.runtime.arguments import Placeholder
from numbagraph.runtime.embedding import Embedding
from numbagraph.tracing.tracebacks import for_users

if TYPE_CHECKING:
    from numbagraph.jit import low_level_callable
else:  # few programs need it
    low_level_callable = Later("numbagraph.jit.low_level_callable")


class Embedded:
    """The methods of `numbagraph.jit.graph_function.GraphFunction` that make it part of other native code."""

    backend: str
    stabilise: bool
    _described: str
    _lock: Any
    _embedded: dict[Key, Embedding]

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        raise NotImplementedError

    def _make(self, arguments: Arguments, use: Callable[[Any, bool], Any]) -> Made:
        raise NotImplementedError

    def _reach(self, arguments: Arguments) -> Reach:
        raise NotImplementedError

    def _embedding(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Embedding:
        """Compile the function as part of other native code, which passes those arguments that are a `Placeholder`."""
        if self.backend != "numba":
            raise TypeError(f"{self._described} has backend={self.backend!r}: only backend='numba' has native code")
        with self._lock:
            return self._embed(self._bind(args, kwargs)).found

    def _embed(self, arguments: Arguments) -> Made:
        leaves, names = arguments.leaves, arguments.leaf_names
        made = self._make(
            arguments, lambda call, converts: embed(call, leaves, names, self._described, converts, self.stabilise)
        )
        made.require_valid(self._described)
        return made

    @for_users
    def address(self, *args: Any, **kwargs: Any) -> int:
        """The address of the function for callers from C.

        Parameters
        ----------
        *args, **kwargs
            Arguments like those that it will be called with (`numbagraph.Abstract` stands for an array). Their values
            do not matter, except for those in ``static_argnames``.

        Returns
        -------
        int
            Address of ``int32_t f(arguments..., results...)``, valid as long as this object lives. Each leaf of the
            arguments, in order: a number by value (a Python float as ``double``, an int as ``int64_t``, a bool as
            ``uint8_t``, a complex number as two numbers); an array as the address of its elements in C order,
            followed by its lengths as ``int64_t``. Then for each result the address of memory for it, which overlaps
            no argument. It returns 0; or 1 when the arguments do not fit each other, 2 when an index is out of
            bounds or a system has no solution, -1 when there is no memory for temporaries.

        Examples
        --------
        >>> import ctypes, numpy as np, numbagraph
        >>> f = numbagraph.graph_jit(lambda x, scale: np.sum(x) * scale)
        >>> prototype = ctypes.CFUNCTYPE(
        ...     ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_double, ctypes.c_void_p
        ... )
        >>> x, result = np.ones(3), np.empty(())
        >>> prototype(f.address(x, 1.0))(x.ctypes.data, 3, 2.0, result.ctypes.data)
        0
        >>> result
        array(6.)
        """
        arguments = self._bind(args, kwargs)
        layouts = [*map(c_layout, arguments.described()[0])]
        key = (*arguments.key, (self._reach(arguments), *layouts))
        with self._lock:
            if key not in self._embedded:
                arguments.leaves = [Placeholder(layout, number) for number, layout in enumerate(layouts)]
                made = self._embed(arguments)
                key = (*arguments.key, (made.reach, *layouts))
                self._embedded[key] = made.found
            return self._embedded[key].c_address

    @for_users
    def scipy_callable(self, signature: str, user_data: Any = None) -> Any:
        """The function as SciPy calls it from C, without Python: for `scipy.integrate.quad` and `scipy.ndimage`.

        Parameters
        ----------
        signature : str
            How SciPy calls it. ``"double(double)"`` and ``"double(double, void*)"``: a function of one number;
            ``"double(int, double*)"`` and ``"double(int, double*, void*)"``: of as many numbers as it has arguments, as
            `quad` with ``args`` and `nquad` give them, or, if it has one argument, of an array of them;
            ``"int(double*, npy_intp, double*, void*)"``: of an array, to a number (`generic_filter`);
            ``"int(double*, npy_intp, double*, npy_intp, void*)"``: to an array (`generic_filter1d`).
        user_data : optional
            What `scipy.LowLevelCallable` takes by this name. The function does not see it.

        Returns
        -------
        scipy.LowLevelCallable
            Which keeps this function alive.

        Raises
        ------
        TypeError, ValueError
            If there is no such form, or the function has other arguments or results.

        Notes
        -----
        Where the function would raise an error, it gives NaN, and to `scipy.ndimage` an error without a name.

        Examples
        --------
        >>> import numpy as np, numbagraph
        >>> from scipy import integrate
        >>> bell = numbagraph.graph_jit(lambda x, scale: np.exp(-scale * x**2))
        >>> area, _ = integrate.quad(bell.scipy_callable("double(int, double*)"), -np.inf, np.inf, args=(1.0,))
        >>> print(round(area, 6))
        1.772454
        """
        return low_level_callable.scipy_callable(self, signature, user_data)
