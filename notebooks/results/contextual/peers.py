"""Counts mistakes of LinUCB and Vowpal Wabbit on data sets as bandits: peers.py FOLDER > peers.json.

It needs numpy and vowpalwabbit 9.11.9. FOLDER has the sets that sets.py writes. Each set is read in the same five
orders as in TestLineBesideCosines: sorted by the hashes of order and row. Numbers are standardised by the rows so far,
as the agent's are. The output has the mistakes in each order.
"""

import csv
import hashlib
import json
import random
import sys
from pathlib import Path

import numpy as np
from vowpalwabbit import Workspace

ORDERS = 5
VW = {"vw": "-q CA", "vw-squarecb": "--squarecb -q CA", "vw-squarecb-1000": "--squarecb --gamma_scale 1000 -q CA"}


def read(path):
    rows = list(csv.reader(open(path)))[1:]
    classes = sorted({r[-1] for r in rows})
    return np.array([[float(v) for v in r[:-1]] for r in rows]), [classes.index(r[-1]) for r in rows], len(classes)


def order(n, seed):
    return sorted(range(n), key=lambda i: hashlib.sha256(f"{seed}:{i}".encode()).hexdigest())


def standardised(x):
    n = np.arange(1, len(x) + 1)[:, None]
    shift = x[0]
    total, squares = np.cumsum(x - shift, 0), np.cumsum((x - shift) ** 2, 0)
    mean = total / n
    sd = np.sqrt(np.maximum(squares - n * mean**2, 0) / np.maximum(n - 1, 1))
    out = np.where(sd > 1e-12, (x - shift - mean) / np.where(sd > 1e-12, sd, 1), 0)
    return np.clip(out, -5, 5)


def linucb(x, y, k, alpha):
    """Disjoint LinUCB (Li et al. 2010, algorithm 1) with an intercept."""
    x = np.hstack([x, np.ones((len(x), 1))])
    d, wrong = x.shape[1], 0
    inverse, theta = np.array([np.eye(d)] * k), np.zeros((k, d))
    for row, c in zip(x, y):
        q = inverse @ row
        a = int(np.argmax(theta @ row + alpha * np.sqrt(np.maximum(q @ row, 0))))
        wrong += a != c
        gain = q[a] / (1 + q[a] @ row)
        theta[a] += gain * ((a == c) - theta[a] @ row)
        inverse[a] -= np.outer(gain, q[a])
    return wrong


def vw(x, y, k, setting, seed):
    w = Workspace(f"--cb_explore_adf --quiet --random_seed {seed + 1} {setting}")
    draw, wrong = random.Random(seed), 0
    for row, c in zip(x, y):
        shared = "shared |C " + " ".join(f"x{j}:{v:.5g}" for j, v in enumerate(row))
        p = w.predict([shared] + [f"|A a{a}" for a in range(k)])
        a = draw.choices(range(k), p)[0]
        wrong += a != c
        w.learn([shared] + [(f"0:{int(a != c)}:{p[b]:.6g} " if b == a else "") + f"|A a{b}" for b in range(k)])
    w.finish()
    return wrong


out = {}
for path in sorted(Path(sys.argv[1]).glob("**/*.csv")):
    x, y, k = read(path)
    tried = out[path.stem] = {}
    for seed in range(ORDERS):
        at = order(len(x), seed)
        xs, ys = standardised(x[at]), [y[i] for i in at]
        for alpha in 0.1, 0.3, 1:
            tried.setdefault(f"linucb-{alpha}", []).append(linucb(xs, ys, k, alpha))
        for name, setting in VW.items():
            tried.setdefault(name, []).append(vw(xs, ys, k, setting, seed))
    print(path.stem, {n: round(sum(v) / len(v), 1) for n, v in tried.items()}, file=sys.stderr, flush=True)
json.dump(out, sys.stdout, separators=(",", ":"))
