"""A test case whose tests share one kernel: suite.py, cells.py and protocol.py use it."""

import os
import sys
import time
import unittest

sys.modules["rfc3987_syntax"] = None  # As in execute.py.

from jupyter_client.manager import start_new_kernel
from leftovers import KERNEL, descendants


class KernelCase(unittest.TestCase):
    """All tests of a class share one kernel, so no test may end it. Its programs need no time for XLA."""

    @classmethod
    def setUpClass(cls):
        cls.km, cls.kc = start_new_kernel(kernel_name=KERNEL, env={**os.environ, "HYPER_BACKEND": "go"})

    @classmethod
    def tearDownClass(cls):
        cls.kc.stop_channels()
        cls.km.shutdown_kernel()

    def run_cell(self, code, during=None, **options):
        """Execute a cell; return the reply and the outputs as (type, content)."""
        request = self.kc.execute(code, **options)
        outputs = []
        while True:
            message = self.kc.get_iopub_msg(timeout=60)
            if message["parent_header"].get("msg_id") != request:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                break
            if kind == "stream" and content["text"].startswith("begun") and during:
                during()
            if kind not in ("status", "execute_input"):
                outputs.append((kind, content))
        return self.reply(request), outputs

    def reply(self, request):
        while True:
            message = self.kc.get_shell_msg(timeout=60)
            if message["parent_header"]["msg_id"] == request:
                return message["content"]

    def fails(self, code, name, value, **options):
        reply, outputs = self.run_cell(code, **options)
        self.assertEqual(reply["status"], "error", outputs)
        self.assertEqual((reply["ename"], reply["evalue"]), (name, value))
        told = [content for kind, content in outputs if kind == "error"]
        self.assertEqual(len(told), 1, outputs)
        for key in ("ename", "evalue", "traceback"):
            self.assertEqual(told[0][key], reply[key])
        return reply

    @staticmethod
    def stream(outputs, name):
        """Return the text that a cell printed on a stream."""
        return "".join(c["text"] for k, c in outputs if k == "stream" and c["name"] == name)

    def printed(self, request, name="stdout"):
        """Return what a request prints on a stream until it ends."""
        text = ""
        while True:
            message = self.kc.get_iopub_msg(timeout=60)
            if message["parent_header"].get("msg_id") != request:
                continue
            if message["msg_type"] == "stream" and message["content"]["name"] == name:
                text += message["content"]["text"]
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                return text

    def prints(self, code, name="stdout", **options):
        """Run a cell that must succeed; return what it prints on a stream."""
        reply, outputs = self.run_cell(code, **options)
        self.assertEqual(reply["status"], "ok", (code, outputs))
        return self.stream(outputs, name)

    def number(self):
        """Return the number of a cell that runs now and that has no program to compile."""
        return self.run_cell("")[0]["execution_count"]

    def kill_gonb(self):
        self.run_in_shell(f"kill -9 {self.gonb()}")

    def gonb(self):
        pid = self.km.provisioner.pid
        return next(p for p, argv in descendants(pid) if os.path.basename(argv[0]) == "gonb")

    def run_in_shell(self, command):
        self.assertEqual(os.system(command), 0)
        time.sleep(0.3)
