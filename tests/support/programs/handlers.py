"""``except`` for errors that follow from elements of arrays."""

import math

import numpy as np

from tests.support.programs.declared import case, refused

X = np.array([5.0, -1.0, 2.5, -0.25, 3.0])
KEYS = np.array([4, 2, 9])
NONE = np.array([], int)


@case((np.array([1, 2, 1, 5, 2, 1]),), (NONE,), (np.array([7, 7], np.int32),))
def counted(x):
    counts = {}
    for k in x:
        try:
            counts[int(k)] += 1
        except KeyError:
            counts[int(k)] = 1
    return counts


@case((KEYS, np.array([2, 3, 4, 9, 9])), (NONE, np.array([2])))
def looked_up(keys, asked):
    places = {}
    for i in range(len(keys)):
        places[int(keys[i])] = i
    out = np.full(len(asked), -1)
    for j in range(len(asked)):
        try:
            out[j] = places[int(asked[j])]
        except KeyError:
            pass
    return out


@case((KEYS, np.array([1, 0, 3]), np.array([2, 4, 9, 7])), (NONE, NONE, np.array([7])))
def two_handlers(keys, x, asked):
    places = {}
    for i in range(len(keys)):
        places[int(keys[i])] = i
    out = np.zeros(len(asked))
    missing = 0
    for j in range(len(asked)):
        try:
            i = places[int(asked[j])]
            out[j] = 10 // int(x[i])
        except KeyError:
            missing += 1
            out[j] = -1
        except ZeroDivisionError:
            out[j] = -2
        else:
            out[j] += 0.5
    return out, missing


@case((X, 1), (X, 4), (X, 5), (X, -5), (X, -6), (X[:0], 0))
def element_or_nan(x, k):
    try:
        return x[k]
    except IndexError:
        return np.float64(np.nan)


@case((X,), (X[:1],), (X[:0],))
def differences(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        try:
            out[i] = x[i + 1] - x[i]
        except IndexError:
            out[i] = 0
    return out


@case((X, np.array([1, 2, 3])), (X, np.array([1, 7, 3])), (X, np.array([-9])))
def computed_places(x, q):
    s = np.zeros(2)
    for k in q:
        try:
            if k == 3:
                continue
            v = x[k]
        except IndexError:
            s[1] += 1
            continue
        finally:
            s[1] += 10
        s[0] += v
    return s


@case((X, np.array([0, 3])), (X, np.array([0, 5])), (X, NONE))
def array_of_places(x, k):
    try:
        return x[k] * 2
    except IndexError:
        return np.zeros(len(k))


@case((4, 2), (4, 0), (0, 0), (-7, 2))
def quotient(a, b):
    try:
        return a / b
    except ZeroDivisionError:
        return math.inf


@case((X,))
def domains(x):
    out = []
    for v in x:
        try:
            out.append(math.sqrt(float(v)))
        except ValueError:
            out.append(-1.0)
    return out


@case((1.0,), (1e3,), (-1e3,))
def too_large(x):
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def rooted(v):
    if v < 0:
        raise ValueError("negative")
    return v**0.5


@case((X,))
def raised_in_function(x):
    bad = 0
    total = x[0] * 0
    for v in x:
        try:
            total += rooted(v)
        except ValueError:
            bad += 1
    return total, bad


class Large(Exception):
    pass


def small(v):
    if v > 2:
        raise Large("large", v)
    return v * 2


@case((X,))
def own_class(x):
    s = x[0] * 0
    for v in x:
        try:
            s += small(v)
        except Large:
            s += 0.25
    return s


@case((X,))
def asserted(x):
    n = 0
    for v in x:
        try:
            assert v > 0
            n += 1
        except AssertionError:
            n -= 1
    return n


@case((X, 3), (X, 5), (X, 7))
def sum_before_error(x, n):
    total = x[0] * 0
    steps = 0
    try:
        for i in range(n):
            total += x[i]
            steps += 1
        total *= 2
    except IndexError:
        total = -total
    return total, steps


@case((X, 1), (X, 4), (X, 5))
def done_before_error(x, n):
    out = np.zeros(5)
    count = 0
    try:
        count += 1
        out[count] = x[n]
        count += 1
        out[count] = x[n + 1]
        count += 1
    except IndexError:
        out[0] = count
    return out


@case((X, 1, 1), (X, 4, 0), (X, 5, 1), (X, 5, 0))
def branches_before_error(x, n, flag):
    r = x[0]
    c = 0
    try:
        if flag > 0:
            c += 1
            r = x[n]
        else:
            r = x[n + 1]
            c += 10
        c += 100
    except IndexError:
        c -= 1000
    return r, c


@case((X, 2), (X, 9))
def error_for_another(x, k):
    try:
        return x[k]
    except IndexError:
        raise ValueError("no such place") from None


@case((X, 2), (X, 9))
def raised_again(x, k):
    try:
        return x[k]
    except IndexError:
        raise
    except ZeroDivisionError:
        return x[0]


@case((4, 2, X), (4, 0, X), (9, 1, X))
def several_classes(a, b, x):
    try:
        y = x[a // b]
    except (ZeroDivisionError, IndexError):
        y = x[0]
    return y


@case((4, 2, X), (4, 0, X), (9, 1, X))
def any_class(a, b, x):
    try:
        y = x[a // b]
    except:  # noqa: E722
        y = x[0]
    return y


@case((4, 2, X), (4, 0, X), (9, 1, X))
def in_one_another(a, b, x):
    try:
        try:
            i = a // b
        except ZeroDivisionError:
            i = 100
        v = x[i]
    except IndexError:
        v = -x[0]
    return v


@case((X,), (X[:1],))
def until_error(x):
    i = 0
    s = x[0] * 0
    while True:
        try:
            s += x[i]
        except IndexError:
            break
        i += 1
    return s


@case((X, 2.5), (X, 2.0), (np.zeros(12), 2.0))
def returned_before_error(x, t):
    try:
        for i in range(10):
            if x[i] == t:
                return i
    except IndexError:
        return -1
    return -2


@case((np.array([1, 2, -1, -1, -1, 3]),), (np.array([-1]),), (NONE,))
def popped(ops):
    stack = []
    bad = 0
    for o in ops:
        if o > 0:
            stack.append(o)
        else:
            try:
                stack.pop()
            except IndexError:
                bad += 1
    return len(stack), bad


@case((KEYS, 2), (KEYS, 3))
def place_in_list(x, v):
    held = [int(each) for each in x]
    try:
        return held.index(v)
    except ValueError:
        return -1


def summed(x, n):
    s = 0.0
    for i in range(n):
        s += x[i]
    return s


@refused("write `try` into the loop", (X, 3))
def loop_in_function(x, n):
    try:
        return summed(x, n)
    except IndexError:
        return -1.0


def two_set(out, x, k):
    out[0] = 1.0
    out[1] = x[k]


@refused("raise errors before anything is changed", (X, 3))
def written_in_function(x, k):
    out = np.zeros(2)
    try:
        two_set(out, x, k)
    except IndexError:
        out[1] = 7.0
    return out


@refused("what the handler needs of it", (X, 3))
def text_of_error(x, k):
    try:
        return x[k]
    except IndexError as error:
        return x[len(str(error))]
