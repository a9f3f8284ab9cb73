"""Counts mistakes of Vowpal Wabbit on the data sets of notebook 14: vw.py > vw.json.

It needs vowpalwabbit 9.11.9, in any Python. Each set is read in the same three orders as in the notebook: sorted by the
hashes of order and row. Numbers are standardised by the rows so far, as the agent's are. All settings below are tried.
The output has two for each set: VW's default with products of features of context and action, and the setting with the
fewest mistakes, found in hindsight.
"""

import csv
import gzip
import hashlib
import itertools
import json
import math
import random
import sys
from pathlib import Path

from vowpalwabbit import Workspace

DATA = Path(__file__).parents[3] / "hyper/bandit/sheet/data"
ORDERS = 3
EXPLORE = ["--epsilon 0.05", "--epsilon 0.01", "--bag 5 --epsilon 0.01", "--cover 3 --epsilon 0.01",
           "--squarecb --gamma_scale 100", "--squarecb --gamma_scale 1000", "--regcb --mellowness 0.01"]
SETTINGS = ["-q CA"] + [f"{e} --cb_type {t} -l {rate} -q CA" for e, t, rate in
                                 itertools.product(EXPLORE, ["mtr", "ips"], [0.1, 0.5, 2])
                                 if t == "mtr" or "cb" not in e]  # --squarecb and --regcb take mtr only.


def read(name):
    with gzip.open(DATA / f"{name}.csv.gz", "rt") as f:
        rows = list(csv.reader(f))[1:]
    classes = sorted({r[-1] for r in rows})
    return [[float(v) for v in r[:-1]] for r in rows], [classes.index(r[-1]) for r in rows], len(classes)


def order(n, seed):
    return sorted(range(n), key=lambda i: hashlib.sha256(f"{seed}:{i}".encode()).hexdigest())


def standardised(rows):
    n, mean, m2 = 0, [0.0] * len(rows[0]), [0.0] * len(rows[0])
    for row in rows:
        n += 1
        out = []
        for i, v in enumerate(row):
            off = v - mean[i]
            mean[i] += off / n
            m2[i] += off * (v - mean[i])
            sd = math.sqrt(m2[i] / max(n - 1, 1))
            out.append(max(-5, min(5, (v - mean[i]) / sd)) if sd > 0 else 0)
        yield out


def mistakes(rows, classes, k, setting, seed):
    """Return the rounds in which VW is wrong."""
    vw = Workspace(f"--cb_explore_adf --quiet --random_seed {seed + 1} {setting}")
    draw, wrong = random.Random(seed), []
    at = order(len(rows), seed)
    for t, (i, x) in enumerate(zip(at, standardised([rows[i] for i in at]))):
        shared = "shared |C " + " ".join(f"x{j}:{v:.5g}" for j, v in enumerate(x))
        p = vw.predict([shared] + [f"|A a{a}" for a in range(k)])
        a = draw.choices(range(k), p)[0]
        cost = 0 if a == classes[i] else 1
        if cost:
            wrong.append(t)
        vw.learn([shared] + [(f"0:{cost}:{p[b]:.6g} " if b == a else "") + f"|A a{b}" for b in range(k)])
    return wrong


out = {}
for name in sys.argv[1:] or ["phishing", "segment", "digits"]:
    rows, classes, k = read(name)
    tried = []
    for setting in SETTINGS:
        all_wrong = [mistakes(rows, classes, k, setting, s) for s in range(ORDERS)]
        tried.append((sum(map(len, all_wrong)) / ORDERS, setting, all_wrong))
        print(name, round(tried[-1][0], 1), setting, file=sys.stderr, flush=True)
    out[name] = {kind: {"setting": "--cb_explore_adf " + setting, "mistakes": mean, "rounds": wrong}
                 for kind, (mean, setting, wrong) in (("default", tried[0]), ("best", min(tried)))}
    out[name]["tried"] = len(tried)
json.dump(out, sys.stdout, separators=(",", ":"))
