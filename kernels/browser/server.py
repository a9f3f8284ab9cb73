"""Starts JupyterLab by the README's command, as for a new user: with a new profile and copies of the notebooks."""

import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
MARK = "HYPERMODELS_TEST_MARK"
LISTEN = "0A"  # the state of a listening socket in /proc/net/tcp
LOOPBACK = re.compile(r"^(0100007F|00000000000000000000000001000000|0000000000000000FFFF00000100007F)$")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Lab:
    """A JupyterLab server whose files are all in one temporary folder."""

    def __init__(self, tmp, base="", certificate=()):
        """Serve below a base path, and over HTTPS if there are files of a certificate and its key."""
        self.base, self.scheme, self.options = base, "https" if certificate else "http", []
        if base:
            self.options.append(f"--ServerApp.base_url={base}/")
        if certificate:
            self.options += [f"--certfile={certificate[0]}", f"--keyfile={certificate[1]}"]
        self.notebooks, self.tmp, self.log = tmp / "notebooks", tmp / "tmp", tmp / "log"
        home = tmp / "home"
        for folder in (self.notebooks, self.tmp, home):
            folder.mkdir()
        for installed in Path(os.environ["HYPERMODELS_HOME"]).iterdir():
            if installed.name != "jupyter":  # That folder has Jupyter's settings and its memory of the user.
                (home / installed.name).symlink_to(installed)
        for notebook in (CHECKOUT / "notebooks").glob("*.ipynb"):
            shutil.copy(notebook, self.notebooks)
        (self.notebooks / "results").symlink_to(CHECKOUT / "notebooks" / "results")
        self.port, self.mark = free_port(), f"{os.getpid()}-{time.time_ns()}"
        env = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "PYTHON", "IPYTHON", "HYPER_"))}
        self.env = {**env, "HYPERMODELS_HOME": str(home), "TMPDIR": str(self.tmp), "GOTMPDIR": "",
                    MARK: self.mark}

    def __enter__(self):
        began = time.time()
        self.server = subprocess.Popen(
            ["go", "run", "./kernels", "lab", "--", "--no-browser", f"--port={self.port}", f"--ServerApp.root_dir={self.notebooks}", *self.options],
            cwd=CHECKOUT, env=self.env, stdout=self.log.open("wb"), stderr=subprocess.STDOUT, start_new_session=True)  # fmt: skip
        while not (url := re.search(rf"{self.url}/lab\?token=(\w+)", self.log.read_text())):
            assert self.server.poll() is None and time.time() < began + 120, f"no address:\n{self.log.read_text()}"
            time.sleep(0.05)
        self.token = url[1]
        while not self.answers():  # The server may print its address before it listens.
            assert self.server.poll() is None and time.time() < began + 120, f"no answer from the server:\n{self.log.read_text()}"
            time.sleep(0.05)
        self.started = time.time() - began
        return self

    def __exit__(self, *_):
        if self.server.poll() is None:
            os.killpg(self.server.pid, signal.SIGINT)  # Ctrl-C
        try:
            self.server.wait(60)
        finally:
            for pid, _ in self.processes() if self.server.poll() is None else []:
                os.kill(pid, signal.SIGKILL)

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.port}{self.base}"

    def answers(self):
        try:
            return self.status("/lab", self.token)[0] == 200
        except urllib.error.URLError:
            return False

    def status(self, path, token="", **headers):
        """GET a path; return the answer's status and the address of a redirection."""

        class Stay(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *_):
                return None

        request = urllib.request.Request(self.url + path, headers=headers)
        if token:
            request.add_header("Authorization", f"token {token}")
        try:
            trusting = urllib.request.HTTPSHandler(context=ssl._create_unverified_context())  # The test's own certificate.
            with urllib.request.build_opener(urllib.request.ProxyHandler({}), trusting, Stay).open(request, timeout=30) as answer:
                return answer.status, ""
        except urllib.error.HTTPError as err:
            return err.code, err.headers.get("Location", "")

    def processes(self):
        """Return the processes that the server's command has started, as (pid, arguments)."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if f"{MARK}={self.mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                    found.append((int(entry.name), (entry / "cmdline").read_text().split("\0")[:-1]))
            except (OSError, UnicodeError):
                pass
        return found

    def listening(self):
        """Return the addresses, in hexadecimal, and the ports on which these processes listen."""
        ours = set()
        for pid, _ in self.processes():
            for fd in Path(f"/proc/{pid}/fd").glob("*"):
                try:
                    ours.add(os.readlink(fd))
                except OSError:
                    pass
        sockets = []
        for table in Path("/proc/net/tcp"), Path("/proc/net/tcp6"):
            for line in table.read_text().splitlines()[1:] if table.exists() else []:
                field = line.split()
                if field[3] == LISTEN and f"socket:[{field[9]}]" in ours:
                    address, port = field[1].split(":")
                    sockets.append((address, int(port, 16)))
        return sockets

    def check_closed(self):
        """Check that the server refuses requests without the token, and that nothing listens beyond this machine."""
        code, where = self.status("/lab")
        assert code == 302 and "/login" in where, f"/lab without a token: {code} {where}"
        for path in "/api/contents", "/api/kernels", "/files/01-hypermodels.ipynb":
            for token in "", "0" * len(self.token):
                code, where = self.status(path, token)
                assert code == 403 or "/login" in where, f"{path} with token {token!r}: {code} {where}"
        code, _ = self.status("/api/contents", self.token)
        assert code == 200, f"/api/contents with the token: {code}"
        code, _ = self.status("/api/contents", self.token, Host="elsewhere.example")
        assert code == 403, f"/api/contents by another host's name: {code}"
        self.check_alone()

    def check_alone(self):
        """Check that only the server listens, on loopback. The kernels' sockets lie in a folder of the user."""
        found = self.listening()
        assert {port for _, port in found} == {self.port}, f"listening: {found}, want only port {self.port}"
        beyond = [(address, port) for address, port in found if not LOOPBACK.match(address)]
        assert not beyond, f"listening beyond loopback: {beyond}"

    def check_gone(self):
        """Check that after the server's end no process runs and no temporary file is left."""
        deadline = time.time() + 30
        while (left := self.processes()) or (files := list(self.tmp.iterdir())):
            assert time.time() < deadline, f"left after the server's end: {left or files}"
            time.sleep(0.1)
