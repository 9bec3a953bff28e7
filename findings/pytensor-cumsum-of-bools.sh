#!/usr/bin/env bash
# PyTensor 3.3.8: `pt.cumsum` of a vector of bools is a variable of dtype bool whose value is int64, so what an expression gives
# depends on whether its type or its value is asked.
#
# `pt.cumsum(y)` for a bool `y` says `dtype == "bool"`. A compiled function returns counts, as NumPy's `cumsum` does, and
# multiplies by counts; of a matrix along an axis it returns bools. A cast to the dtype that the variable says it has would
# change the numbers. Seen on 2026-11-29:
#
#     type bool, vector int64 [1, 2, 3], times 0.5 [0.5, 1.0, 1.5], matrix bool
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 "$(pyenv root 2>/dev/null)"/versions/3.1[2-4]*/bin/python3; do
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break # PyTensor 3.3 asks for it
done
"$python" -m venv "$folder"
"$folder/bin/pip" install --quiet 'pytensor==3.3.8'
seen=$(HOME="$folder" "$folder/bin/python" - <<'END'
import numpy as np
import pytensor
import pytensor.tensor as pt

y, table = pt.vector("y", dtype="bool"), pt.matrix("table", dtype="bool")
counts = pt.cumsum(y)
found = pytensor.function([y], counts)(np.ones(3, bool))
half = pytensor.function([y], counts * 0.5)(np.ones(3, bool))
rows = pytensor.function([table], pt.cumsum(table, axis=1))(np.ones((2, 3), bool))
print(
    f"type {counts.dtype}, vector {found.dtype} {found.tolist()}, times 0.5 {half.tolist()}, matrix {rows.dtype}"
)
END
)
echo "$seen"
[ "$seen" = "type bool, vector int64 [1, 2, 3], times 0.5 [0.5, 1.0, 1.5], matrix bool" ]
