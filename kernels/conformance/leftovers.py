"""Starts kernels, ends them in six ways, and checks that no process and no file is left: leftovers.py NUMBER.

NUMBER is the number of kernels.
"""

import os
import signal
import sys
import tempfile
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from jupyter_client.manager import start_new_kernel

KERNEL = os.environ.get("HYPERMODELS_TEST_KERNEL", "go-hypermodels")
LIMIT = 40  # seconds for everything to be gone
AT_ONCE = 3
MARK = "HYPERMODELS_TEST_MARK"

# This cell starts a process in a new session, and then sleeps.
CELL = '%%\nmust.M(exec.Command("setsid", "sleep", "1000").Start())\nfmt.Println("begun")\ntime.Sleep(time.Hour)'


def processes():
    """Yield all processes as (pid, parent, arguments)."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text().rpartition(")")[2].split()
                argv = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
            except OSError:
                continue
            if stat[0] != "Z" and argv:
                yield int(entry.name), int(stat[1]), argv


def descendants(pid):
    """Return the descendants of a process, as (pid, arguments)."""
    table = list(processes())
    below, found = {pid}, []
    while True:
        new = [(p, argv) for p, parent, argv in table if parent in below and p not in below]
        if not new:
            return found
        found += new
        below |= {p for p, _ in new}


def marked(mark):
    """Return the processes with a mark in their environment, as (pid, arguments)."""
    found = []
    for pid, _, argv in processes():
        try:
            if f"{MARK}={mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                found.append((pid, argv))
        except OSError:
            pass
    return found


def kill(verb):
    """Return a function that sends SIGKILL to one process of a kernel. Jupyter has started the launcher."""

    def end(km):
        pid = km.provisioner.pid
        if verb != "launcher":
            pid = next(p for p, argv in descendants(pid) if verb == os.path.basename(argv[0]) or argv[1:2] == [verb])
        os.kill(pid, signal.SIGKILL)

    end.__name__ = f"SIGKILL to {verb}"
    return end


def shutdown(km):
    km.shutdown_kernel()


def shutdown_now(km):
    km.shutdown_kernel(now=True)


def gonb_and_shutdown(km):
    kill("gonb")(km)
    km.shutdown_kernel()


WAYS = [kill("launcher"), kill("layer"), kill("guard"), shutdown, shutdown_now, gonb_and_shutdown]


def live_and_die(way):
    """Start a kernel, let it work, and end it. Return a text about what is left, or "" if nothing is."""
    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory(prefix="hk-") as tmp:
        env = {**os.environ, MARK: mark, "TMPDIR": tmp, "GOTMPDIR": ""}
        km, kc = start_new_kernel(kernel_name=KERNEL, startup_timeout=120, env=env)
        kc.execute(CELL)
        while True:
            message = kc.get_iopub_msg(timeout=120)
            if message["msg_type"] == "stream":
                break
            if message["msg_type"] == "error":
                return f"{way.__name__}: {message['content']}"
        kc.stop_channels()
        began = len(marked(mark))
        way(km)
        deadline = time.time() + LIMIT
        while (left := marked(mark)) or (files := os.listdir(tmp)):
            if time.time() > deadline:
                return f"{way.__name__}: of {began} processes these are left: {left}; files {os.listdir(tmp)}"
            time.sleep(0.1)
        km.cleanup_resources()
    return "" if began > 5 else f"{way.__name__}: only {began} processes were found, want more than 5"


def main(number):
    ways = [WAYS[i % len(WAYS)] for i in range(number)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        left = [text for text in pool.map(live_and_die, ways) if text]
    print(f"{number} kernels started and ended, {len(left)} left something behind", *left, sep="\n")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
