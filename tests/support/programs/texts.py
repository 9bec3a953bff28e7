"""Programs whose states, options and results are texts."""

import numpy as np

from tests.support.programs.declared import case, refused

X = np.array([5.0, -1.0, 2.5, -0.25, 3.0])


@case((X,), (-X,), (X[:1],))
def a_state_machine(x):
    state, count = "idle", 0
    seen = np.zeros(len(x), dtype=np.int64)
    for i in range(len(x)):
        if state == "idle":
            if x[i] > 0:
                state = "run"
        elif state == "run":
            count += 1
            if x[i] < 0:
                state = "stop"
        elif state == "stop":
            state = "idle" if x[i] > 1 else "wait"
        else:
            state = "idle"
        seen[i] = count + (state != "run") * 10
    return count, state, seen


@case((X,), (-X,), (0 * X,))
def chosen_by_a_branch(x):
    if x[0] > 0:
        mode = "up"
    elif x[0] < -2:
        mode = "down"
    else:
        mode = "flat"
    if mode == "up":
        return x.sum()
    if mode in ("down", "flat"):
        return x.min()
    return 0.0


@case((X,), (-X,))
def compared(x):
    a = "u" if x[0] > 0 else "v"
    b = "v" if x[1] > 0 else "u"
    both = [a == b, a != b, a == "w", a != "w", a is None, a in {"u", "z"}, a not in ["u"], not a, bool(a)]
    return both, {"u": 1.0, "v": 2.0, "w": 3.0}[a]


@case((X,), (-X,), (0 * X,))
def a_text_or_none(x):
    sign = None
    if x[0] > 0:
        sign = "positive"
    elif x[0] < 0:
        sign = "negative"
    return sign, 0.0 if sign is None else 1.0 if sign == "positive" else 2.0


@case((X,), (-X,), (X[:0],))
def why_a_loop_ended(x):
    why = "end"
    for v in x:
        if v < -2:
            why = "low"
            break
        if v > 4:
            why = "high"
            break
    return why


@case((X,), (-X,))
def as_a_condition(x):
    i, state = 0, "go"
    while state == "go" and i < len(x):
        if x[i] < 0:
            state = "end"
        i += 1
    return i, state


@case((X, 2), (X, 1), (X, 0))
def in_a_circle(x, n):
    s = "a"
    for _ in range(n):
        s = {"a": "b", "b": "c", "c": "a"}[s]
    return s


def kernel(x, kind):
    if kind == "gauss":
        return np.exp(-x * x)
    if kind == "flat":
        return 0 * x + 1
    raise ValueError(f"no kernel {kind} of {x.size}")


@case((X,), (-X,), (0 * X,))
def passed_to_a_function(x):
    kind = "gauss" if x.sum() > 0 else "flat" if x.sum() < 0 else "other"
    return kernel(x, kind).sum()


@case((X, "gauss"), (X, "flat"), (X, "other"))
def given(x, kind):
    total = 0.0
    for v in x:
        total += kernel(v, kind)
    return total


@case((X, "a", 1.0), (X, "b", 1.0))
def of_equal_texts_and_others(x, kind, t):
    other = "a" if x[0] > t else kind
    return other == kind, other


@case((X, 1), (X, 0), (X[2:3], 9))
def formatted_in_errors(x, kind):
    for i in range(len(x)):
        if x[i] < 0:
            if kind == 0:
                raise ValueError("element %d is %.2f (%s%%)" % (i, x[i], "negative"))
            elif kind == 1:
                raise ValueError("element {0} of {n} is {1:.3f}".format(i, x[i], n=len(x)))
    assert kind < 5, "kind: %s" % kind
    return x.sum()


def required(value, name, low):
    message = f"{name} must be at least {low}, got " + repr(value)
    if value < low:
        raise ValueError(message + "!")
    return value


@case((np.array([2, 1]), 1), (np.array([2, -1]), 0), (np.array([7, 1]), 5))
def texts_put_together(n, low):
    total = 0
    for each in n:
        total += required(each, "n", low)
    if total > 5:
        raise RuntimeError(", ".join(["total", str(total), f"{low:+d}"]) + " of {%s}" % f"{total - low}")
    if total > 4:
        raise KeyError("%(total)d and %(low)s" % {"total": total, "low": low})
    return total


@refused("a text of traced values has no characters", (X,))
def text_of_a_number_is_compared(x):
    total = 0.0
    for v in x:
        total += v
    return f"{total}" == "1.0"


@refused("returns a text of .*: a text of traced values can be printed", (X,))
def text_of_a_number_is_returned(x):
    total = 0.0
    for v in x:
        total += v
    # in tests/support/programs
    return f"{total}"
