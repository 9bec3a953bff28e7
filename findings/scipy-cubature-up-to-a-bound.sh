#!/usr/bin/env bash
# SciPy 1.17.1: `integrate.cubature` over (-inf, b] gives the integral over [-b, inf), with status "converged".
#
# A half-line that begins at minus infinity is to be mirrored. The limits are, but the integrand is not: it is evaluated
# at the mirrored points themselves, so the result is right for even functions alone, as bell curves are. The estimate of
# the error belongs to the other integral and is small, there is no warning, and the other variables of a box make
# no difference. `quad` and `nquad` are right; so is the call over the whole line of a function that is 0 behind b. Seen
# on 2026-11-30, for exp(-x^2) (1 + x) up to 1, where `quad` gives 1.44911:
#
#     converged 1.81699
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder"
"$folder/bin/pip" install --quiet 'scipy==1.17.1' 'numpy==2.4.1'
seen=$("$folder/bin/python" -W error - <<'END'
import numpy as np
from scipy.integrate import cubature, quad

found = cubature(lambda x: np.exp(-(x[:, 0] ** 2)) * (1 + x[:, 0]), [-np.inf], [1.0])
right = quad(lambda x: np.exp(-(x**2)) * (1 + x), -np.inf, 1.0)[0]
assert abs(right - 1.449111) < 1e-5
print(found.status, f"{found.estimate:.5f}")
END
)
echo "$seen"
[ "$seen" = 'converged 1.81699' ]
