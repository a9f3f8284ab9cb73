"""Sends messages to a kernel as real clients do, and checks the answers as the clients use them.

Most messages were read in the sources of VS Code's Jupyter extension (github.com/microsoft/vscode-jupyter, 2026.6) and
of jupyter_console (github.com/jupyter/jupyter_console, 6.6.3), and of the packages that both use: JupyterLab's
@jupyterlab/services 7.6 and ipywidgets (github.com/jupyter-widgets/ipywidgets). Comments name the files.

HYPERMODELS_TEST_KERNEL names another kernel to test, as in suite.py.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
import uuid
from contextlib import contextmanager

from kernelcase import KERNEL  # First: it prevents a slow import.

import nbformat
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel
from nbformat.v4 import new_code_cell, new_notebook

LIMIT = 60  # seconds for an answer for which a client has no limit of its own
INTERRUPT_LIMIT = 10  # jupyter.interruptTimeout of the extension
INTELLISENSE_LIMIT = 2  # IntellisenseTimeout in src/platform/common/constants.ts of the extension
CONSOLE_LIMIT = 1  # limit for history and kernel_is_complete_timeout in jupyter_console/zmqhistory.py and ptshell.py

SLEEP = '%%\nfmt.Println("begun")\ntime.Sleep(time.Hour)'
ASK = '%%\ngonbui.RequestInput("name", false)\nvar s string\nfmt.Scanln(&s)\nfmt.Println("got", s)'

# Fields that @jupyterlab/services requires in a header and in published messages: lib/kernel/validate.js there, and
# src/kernels/raw/session/rawSocket.node.ts in the extension, which fills in missing fields.
HEADER = ("username", "version", "session", "msg_id", "msg_type")
PUBLISHED = {
    "stream": {"name": str, "text": str},
    "display_data": {"data": dict, "metadata": dict},
    "update_display_data": {"data": dict, "metadata": dict, "transient": dict},
    "execute_input": {"code": str, "execution_count": int},
    "execute_result": {"execution_count": int, "data": dict, "metadata": dict},
    "error": {"ename": str, "evalue": str, "traceback": list},
    "status": {"execution_state": str},
    "clear_output": {"wait": bool},
    "comm_open": {"comm_id": str, "target_name": str, "data": dict},
    "comm_msg": {"comm_id": str, "data": dict},
    "comm_close": {"comm_id": str},
    "shutdown_reply": {"restart": bool},
}


class Exchange:
    """A request, and all messages whose parent header names it."""

    def __init__(self, channel, header):
        self.channel, self.header = channel, header
        self.replies, self.states, self.outputs, self.questions = [], [], [], []

    @property
    def done(self):
        """Whether a reply and the state idle have come, in any order (lib/kernel/future.js in @jupyterlab/services)."""
        return bool(self.replies) and self.idle

    @property
    def idle(self):
        """Whether the state idle has come. A message of a comm has no reply, so it is done then."""
        return "idle" in self.states

    @property
    def content(self):
        return self.replies[0]["content"]

    def kinds(self, *but):
        return [kind for kind, _ in self.outputs if kind not in but]

    def text(self, name="stdout"):
        return "".join(c["text"] for kind, c in self.outputs if kind == "stream" and c["name"] == name)


class Peer:
    """A client of the kernel with its own session and connections. It reads all channels."""

    def __init__(self, connection_file, version="5.2"):
        self.kc = BlockingKernelClient(connection_file=connection_file)
        self.kc.load_connection_file()
        self.kc.start_channels()
        self.session, self.version = self.kc.session.session, version
        self.exchanges, self.faults, self.others = {}, [], []

    def close(self):
        self.kc.stop_channels()

    def send(self, kind, content, channel="shell", metadata=None, parent=None, buffers=None):
        """Send a message as createMessage of lib/kernel/messages.js in @jupyterlab/services makes it."""
        message = self.kc.session.msg(kind, content, parent=parent, metadata=metadata)
        message["header"].update(version=self.version, subshell_id=None)
        exchange = self.exchanges[message["header"]["msg_id"]] = Exchange(channel, message["header"])
        socket = getattr(self.kc, f"{channel}_channel").socket
        self.kc.session.send(socket, message, buffers=buffers)
        return exchange

    def take(self):
        """Read all messages that have come; return whether there was one."""
        came = False
        for name in ("iopub", "stdin", "control", "shell"):
            channel = getattr(self.kc, f"{name}_channel")
            while channel.msg_ready():
                came = True
                self.file(name, channel.get_msg(timeout=0))
        return came

    def file(self, channel, message):
        kind, content, parent = message["msg_type"], message["content"], message["parent_header"]
        self.check(channel, message)
        exchange = self.exchanges.get(parent.get("msg_id"))
        if exchange is None:
            self.others.append((channel, message))
            return
        if {k: parent.get(k) for k in HEADER} != {k: exchange.header[k] for k in HEADER}:
            self.faults.append(f"{kind} has the parent {parent}, not {exchange.header}")
        if channel == "stdin":
            exchange.questions.append(message)
        elif channel == "iopub" and kind == "status":
            exchange.states.append(content["execution_state"])
        elif channel == "iopub":
            if exchange.states[-1:] != ["busy"] and kind != "shutdown_reply":
                self.faults.append(f"{kind} came in the states {exchange.states}: {content}")
            exchange.outputs.append((kind, content))
        elif channel != exchange.channel:
            self.faults.append(f"{kind} came by {channel}, the request by {exchange.channel}")
        else:
            exchange.replies.append(message)

    def check(self, channel, message):
        kind, content = message["msg_type"], message["content"]
        for field in HEADER:
            if not isinstance(message["header"].get(field), str):
                self.faults.append(f"{kind} has no {field} in its header: {message['header']}")
        if channel == "iopub":
            for field, what in PUBLISHED.get(kind, {}).items():
                if not isinstance(content.get(field), what):
                    self.faults.append(f"{kind} has no {field}: {content}")
        elif channel != "stdin" and kind != "debug_reply" and content.get("status") not in ("ok", "error", "aborted"):
            if kind != "is_complete_reply":
                self.faults.append(f"{kind} has no status: {content}")

    def until(self, test, limit=LIMIT):
        """Read messages until test() holds; return whether it holds within the limit, in seconds."""
        deadline = time.monotonic() + limit
        while not test():
            if not self.take():
                if time.monotonic() > deadline:
                    return False
                time.sleep(0.005)
        return True

    def rest(self, seconds=0.3):
        """Read messages that come late, or too often, for some seconds."""
        self.until(lambda: False, seconds)


class Clients(unittest.TestCase):
    """Tests with one kernel, except tests that end their kernel and start their own."""

    @classmethod
    def setUpClass(cls):
        cls.km, kc = start_new_kernel(kernel_name=KERNEL)
        kc.stop_channels()
        cls.peers = []

    @classmethod
    def tearDownClass(cls):
        for peer in cls.peers:
            peer.close()
        cls.km.shutdown_kernel()

    @classmethod
    def join(cls):
        """Return a client that receives all messages of the kernel."""
        peer = Peer(cls.km.connection_file)
        cls.peers.append(peer)
        cls.await_kernel(peer)
        return peer

    @staticmethod
    def await_kernel(peer):
        """Send requests until an answer and its states have come, as the extension does; return the requests."""
        asked, deadline = [], time.monotonic() + LIMIT
        while time.monotonic() < deadline:
            # postStartKernel in src/kernels/raw/session/rawKernelConnection.node.ts asks by both channels, every 500 ms.
            asked += [peer.send("kernel_info_request", {}, channel) for channel in ("control", "shell")]
            if peer.until(lambda: any(e.replies and e.states for e in asked), 0.5):
                return asked
        raise TimeoutError(f"no answer to kernel_info_request within {LIMIT} s")

    def setUp(self):
        self.peer = self.join()

    def tearDown(self):
        # If a failed test leaves a cell running, the cell would delay all later tests.
        for cell in [e for e in self.peer.exchanges.values() if e.header["msg_type"] == "execute_request" and not e.done]:
            self.peer.send("interrupt_request", {}, "control")
            self.peer.until(lambda: cell.done, 10)
        for peer in self.peers:
            peer.rest(0.05)
        faults = [fault for peer in self.peers for fault in peer.faults]
        for peer in self.peers:
            peer.close()
        self.peers.clear()
        self.assertEqual(faults, [])

    @contextmanager
    def own_kernel(self):
        """A kernel that the test may end, and a client that was connected before the kernel answered."""
        km = KernelManager(kernel_name=KERNEL)
        km.start_kernel()
        peer = Peer(km.connection_file)
        self.peers.append(peer)
        try:
            yield km, peer
        finally:
            km.shutdown_kernel()

    def done(self, exchange, limit=LIMIT, peer=None):
        """Wait for a request's end; check for one reply, and the states busy and then idle; return the reply."""
        peer = peer or self.peer
        what = exchange.header["msg_type"]
        self.assertTrue(peer.until(lambda: exchange.replies, limit), f"{what}: no reply within {limit} s")
        self.assertTrue(peer.until(lambda: exchange.done, 2), f"{what} by {exchange.channel}: states {exchange.states}, want idle")
        peer.rest(0.02)
        # The kernel says "busy" again after it has answered a question while the cell runs.
        states = [s for i, s in enumerate(exchange.states) if i == 0 or s != exchange.states[i - 1]]
        self.assertEqual(states, ["busy", "idle"], what)
        self.assertEqual(len(exchange.replies), 1, what)
        self.assertEqual(exchange.replies[0]["msg_type"], what.replace("_request", "_reply"))
        return exchange.content

    def ask(self, kind, content, channel="shell", limit=LIMIT, **more):
        return self.done(self.peer.send(kind, content, channel, **more), limit)

    # VS Code

    @staticmethod
    def vscode_cell(peer, code):
        """Run a cell: src/kernels/execution/cellExecution.ts. The metadata are the cell's metadata and its address."""
        metadata = {"cellId": f"vscode-notebook-cell:/home/user/book.ipynb#W{uuid.uuid4().hex[:6]}sZmlsZQ%3D%3D",
                    "tags": [], "vscode": {"languageId": "go"}}
        return peer.send("execute_request", {"code": code, "silent": False, "stop_on_error": False, "allow_stdin": True,
                                             "store_history": True}, metadata=metadata)

    @staticmethod
    def vscode_hidden(peer, code, stdin=True):
        """Run hidden code: executeSilently, or executeSilentlyAndEmitOutput without stdin; src/kernels/helpers.ts."""
        return peer.send("execute_request", {"code": code, "silent": False, "stop_on_error": False, "allow_stdin": stdin,
                                             "store_history": False})

    def test_vscode_start(self):
        """A kernel starts, runs its first cell, and is restarted by the server while the client stays connected."""
        with self.own_kernel() as (km, peer):
            asked = self.await_kernel(peer)
            # Requests may come before the kernel listens. Each request that arrives is answered once.
            self.assertTrue(peer.until(lambda: all(e.replies for e in asked)))
            peer.rest()
            self.assertEqual({len(e.replies) for e in asked}, {1})
            info = asked[-1].content
            self.assertEqual((info["status"], info["language_info"]["name"]), ("ok", "go"))
            self.assertFalse(info.get("debugger"))
            # The user's startup commands (jupyter.runStartupCommands) are not cells: src/kernels/kernel.ts.
            hidden = self.vscode_hidden(peer, '%%\nfmt.Println("started")')
            self.assertEqual(self.done(hidden, peer=peer)["status"], "ok")
            self.assertEqual(hidden.text(), "started\n")
            # src/kernels/kernelInfo.ts
            self.done(peer.send("kernel_info_request", {}), peer=peer)
            first = self.vscode_cell(peer, '%%\nfmt.Println("one")')
            self.assertEqual((self.done(first, peer=peer)["execution_count"], first.text()), (1, "one\n"))
            tail = {"output": False, "raw": True, "hist_access_type": "tail", "n": 10}
            history = self.done(peer.send("history_request", tail), peer=peer)["history"]
            self.assertEqual([[n, code] for _, n, code in history], [[1, first.outputs[0][1]["code"]]], "the history has hidden code")
            # If a server runs the kernel, the server's jupyter_client sends shutdown_request by control.
            km.restart_kernel()
            self.await_kernel(peer)
            again = self.vscode_cell(peer, '%%\nfmt.Println("one")')
            self.assertEqual((self.done(again, peer=peer)["execution_count"], again.text()), (1, "one\n"))

    def test_shutdown(self):
        """shutdown_request as jupyter_client sends it (manager.py and client.py there) is announced to all clients."""
        for restart in (True, False):
            with self.own_kernel() as (km, peer):
                other = Peer(km.connection_file)
                self.peers.append(other)
                self.await_kernel(peer)
                self.await_kernel(other)
                end = peer.send("shutdown_request", {"restart": restart}, "control")
                self.assertTrue(peer.until(lambda: end.replies, 5))
                self.assertEqual((end.content["status"], end.content["restart"]), ("ok", restart))
                told = [{"restart": restart, "status": "ok"}]
                heard = lambda: [m["content"] for _, m in other.others if m["msg_type"] == "shutdown_reply"] == told
                self.assertTrue(other.until(heard, 5), other.others)
                deadline = time.monotonic() + 10
                while km.is_alive() and time.monotonic() < deadline:
                    time.sleep(0.05)
                self.assertFalse(km.is_alive())

    def test_vscode_cell(self):
        code = '%%\nfmt.Println("out")\nfmt.Fprintln(os.Stderr, "err")\ngonbui.DisplayMarkdown("**a**")'
        cell = self.vscode_cell(self.peer, code)
        reply = self.done(cell)
        self.assertEqual(reply["status"], "ok", cell.outputs)
        self.assertEqual(cell.outputs[0], ("execute_input", {"code": code, "execution_count": reply["execution_count"]}))
        self.assertEqual((cell.text(), cell.text("stderr")), ("out\n", "err\n"))
        self.assertEqual([c["data"] for k, c in cell.outputs if k == "display_data"], [{"text/markdown": "**a**"}])
        # The extension does not send an empty cell, but other clients do.
        self.assertEqual(self.done(self.vscode_cell(self.peer, ""))["status"], "ok")

    def test_vscode_error(self):
        """The extension shows the published error, and takes its name and message from the reply. Later cells run."""
        cells = [self.vscode_cell(self.peer, code) for code in ('%%\npanic("stop")', '%%\nfmt.Print(1)', "%%\nnonsense")]
        replies = [self.done(cell) for cell in cells]
        self.assertEqual([r["status"] for r in replies], ["error", "ok", "error"])
        self.assertEqual([r["execution_count"] - replies[0]["execution_count"] for r in replies], [0, 1, 2])
        for cell, reply in zip(cells, replies):
            told = [c for k, c in cell.outputs if k == "error"]
            self.assertEqual(told, [{k: reply[k] for k in ("ename", "evalue", "traceback")}] if reply["status"] == "error" else [])

    def test_vscode_hidden(self):
        """Hidden code shows its outputs, but has no execution number and is not in the history."""
        before = self.done(self.vscode_cell(self.peer, ""))["execution_count"]
        for code, status in (('%%\nfmt.Println("hidden")', "ok"), ('%%\npanic("hidden")', "error")):
            hidden = self.vscode_hidden(self.peer, code)
            self.assertEqual(self.done(hidden)["status"], status)
            self.assertEqual(hidden.text() == "hidden\n", status == "ok")
            self.assertEqual("error" in hidden.kinds(), status == "error")
        self.assertEqual(self.done(self.vscode_cell(self.peer, ""))["execution_count"], before + 1)
        found = self.ask("history_request", {"output": False, "raw": True, "hist_access_type": "search", "pattern": "*hidden*"})
        self.assertEqual(found["history"], [])

    def test_no_stdin(self):
        """Code that runs without stdin and asks for input gets none, and the client gets no question."""
        hidden = self.vscode_hidden(self.peer, ASK, stdin=False)
        ended = self.peer.until(lambda: hidden.done or hidden.questions, 20)
        asked = len(hidden.questions)
        if not hidden.done:
            self.peer.send("interrupt_request", {}, "control")
            self.peer.until(lambda: hidden.done, 20)
        self.assertEqual((ended, asked), (True, 0), "(whether the code ended, number of questions)")

    def test_vscode_interrupt(self):
        """interrupt() in src/kernels/raw/session/rawKernelConnection.node.ts; kernel.ts has its limit of 10 s.

        If a request is not done by then, the extension assumes that the kernel is dead, and offers a restart. A request by
        control does not wait for the cell.
        """
        self.assertEqual(self.ask("interrupt_request", {}, "control", INTERRUPT_LIMIT)["status"], "ok")  # Nothing runs.
        cell = self.vscode_cell(self.peer, SLEEP)
        self.assertTrue(self.peer.until(lambda: cell.text() == "begun\n"))
        info = self.peer.send("kernel_info_request", {}, "control")
        self.assertTrue(self.peer.until(lambda: info.replies, 2) and not cell.replies)
        end = self.peer.send("interrupt_request", {}, "control")
        self.assertEqual(self.done(cell, INTERRUPT_LIMIT)["ename"], "Interrupt")
        self.assertEqual(self.done(end, INTERRUPT_LIMIT)["status"], "ok")
        self.assertEqual(self.done(self.vscode_cell(self.peer, ""))["status"], "ok")

    def test_debug_requests(self):
        """A kernel without a debugger refuses debug requests in the form of the Debug Adapter Protocol.

        sendRequestToJupyterSession in src/notebooks/debugger/kernelDebugAdapterBase.ts waits for done, and passes the
        reply on as the adapter's response. `initialize` has the arguments of jupyterDebugService.node.ts. Of the rest,
        the extension sends debugInfo and dumpCell; JupyterLab (packages/debugger/src/service.ts and session.ts) also
        inspectVariables and richInspectVariables, but only to a kernel that says that it has a debugger.
        """
        initialize = {"clientID": "vscode", "clientName": "Visual Studio Code", "adapterID": "python", "pathFormat": "path",
                      "linesStartAt1": True, "columnsStartAt1": True, "supportsVariableType": True,
                      "supportsVariablePaging": True, "supportsRunInTerminalRequest": True, "locale": "en-us"}
        requests = [("initialize", initialize), ("attach", {"justMyCode": True}), ("debugInfo", None),
                    ("dumpCell", {"code": "%%"}), ("disconnect", {"restart": False}), ("inspectVariables", {}),
                    ("richInspectVariables", {"variableName": "x"})]
        for seq, (command, arguments) in enumerate(requests, 7):
            content = {"seq": seq, "type": "request", "command": command}
            if arguments is not None:
                content["arguments"] = arguments
            answer = self.ask("debug_request", content, "control", 5)
            self.assertEqual({k: answer[k] for k in ("type", "request_seq", "command", "success")},
                             {"type": "response", "request_seq": seq, "command": command, "success": False})
            self.assertIsInstance(answer["seq"], int)
            self.assertTrue(answer["message"])

    def test_vscode_completion(self):
        """src/standalone/intellisense/kernelCompletionProvider.ts: the whole cell and an offset, every 50 ms at most.

        The extension waits 2 s. It does not cancel a request for which it no longer waits.
        """
        self.begin_help()
        code = '%%\ns := "a"\nfmt.Println(strings.ToUp'
        for text, at, want, replaced in ((code + "(s))", len(code), "ToUpper", "ToUp"), ("%%\nfmt.Prin", 11, "Println", "Prin")):
            found = self.ask("complete_request", {"code": text, "cursor_pos": at}, limit=INTELLISENSE_LIMIT)
            self.assertEqual(found["status"], "ok")
            self.assertIn(want, found["matches"])
            self.assertEqual(text[found["cursor_start"]:found["cursor_end"]], replaced)
            self.assertIsInstance(found["metadata"], dict)
            self.typed(found)
        many = [self.peer.send("complete_request", {"code": code[:i], "cursor_pos": i}) for i in range(len(code) - 4, len(code))]
        for asked in many:
            self.done(asked)

    def begin_help(self):
        """Start gopls by a first question, which takes 2 s or more. A client that does not wait longer asks again."""
        self.ask("complete_request", {"code": "%%\nfmt.Prin", "cursor_pos": 11})

    def typed(self, found):
        """If matches have types, check that each has one, as kernelCompletionProvider.ts and ptshell.py expect."""
        types = found["metadata"].get("_jupyter_types_experimental")
        if types is not None:
            self.assertEqual(len(types), len(found["matches"]))
            for match in types:
                self.assertIsInstance(match["text"], str)
                self.assertIsInstance(match["type"], str)

    def test_odd_cursors(self):
        """The extension counts UTF-16 units, the protocol characters. So a cursor may be anywhere, even after the end."""
        code = '%%\ns := "\N{GRINNING FACE}\N{GRINNING FACE}"; fmt.Prin'
        for kind in ("complete_request", "inspect_request"):
            for at in (len(code) + 2, 10 ** 6, -1, 0):
                self.ask(kind, {"code": code, "cursor_pos": at, "detail_level": 0})
        cell = self.vscode_cell(self.peer, "")
        self.assertEqual((self.done(cell)["status"], cell.text("stderr")), ("ok", ""))

    def test_help_after_other_letters(self):
        """Since version 5.2 of the protocol a cursor counts characters, not bytes and not UTF-16 units."""
        for letters in ("\N{LATIN SMALL LETTER E WITH ACUTE}", "\N{GREEK SMALL LETTER PI}", "\N{GRINNING FACE}"):
            for code in (f"%%\n// {letters}\nfmt.Prin", f'%%\ns := "{letters}"; fmt.Prin'):
                with self.subTest(code=code):
                    asked = {"code": code, "cursor_pos": len(code), "detail_level": 0}
                    found = self.ask("complete_request", asked)
                    self.assertIn("Println", found["matches"])
                    self.assertEqual(code[found["cursor_start"]:found["cursor_end"]], "Prin")
                    found = self.ask("inspect_request", asked | {"code": code + "tln"})
                    self.assertIn("func fmt.Println", str(found["data"]))

    def test_vscode_inspection(self):
        """resolveCompletionItem.ts sends the beginning of the cell and the item; kernelVariables.ts sends a name.

        The latter happens only if the extension has a list of variables, which it has for Python only.
        """
        code = "%%\nfmt.Pr"
        for cut, item in ((len(code) - 2, "Println"), (3, "Println"), (0, "fmt")):
            text = code[:cut] + item
            found = self.ask("inspect_request", {"code": text, "cursor_pos": len(text), "detail_level": 0})
            self.inspected(found)
        self.inspected(self.ask("inspect_request", {"code": "x", "cursor_pos": 0, "detail_level": 0}))
        found = self.ask("inspect_request", {"code": "%%\nfmt.Println", "cursor_pos": 9, "detail_level": 0})
        self.assertTrue(found["found"])
        self.assertIn("Println", str(found["data"]))

    def inspected(self, found):
        if found["status"] == "ok":
            self.assertIsInstance(found["found"], bool)
            self.assertIsInstance(found["data"], dict)
            self.assertIsInstance(found["metadata"], dict)
            self.assertTrue(found["data"] or not found["found"])

    def test_widgets(self):
        """ipywidgets' managers, in the extension and in JupyterLab, send these messages to a kernel without widgets.

        packages/base-manager/src/manager-base.ts first opens a comm for all states. A kernel that does not know the
        target must close the comm; otherwise the manager waits for 4 s. Then the manager asks for the open comms
        (python/jupyterlab_widgets/src/manager.ts).
        """
        comm = uuid.uuid4().hex
        opened = self.peer.send("comm_open", {"comm_id": comm, "target_name": "jupyter.widget.control", "data": {}},
                                metadata={"version": "1.0.0"})
        states = self.peer.send("comm_msg", {"comm_id": comm, "data": {"method": "request_states"}})
        info = self.ask("comm_info_request", {"target_name": "jupyter.widget"})
        self.assertEqual((info["status"], info["comms"]), ("ok", {}))
        every = self.ask("comm_info_request", {})
        with self.subTest("states"):
            # A message without a reply is done when it is idle. Then the widgets send the next message: _pending_msgs
            # in packages/base/src/widget.ts.
            self.assertTrue(self.peer.until(lambda: opened.idle and states.idle, 4), (opened.states, states.states))
        with self.subTest("closed"):
            closed = [c["comm_id"] for k, c in opened.outputs if k == "comm_close"]
            self.assertEqual((closed, every["comms"]), ([comm], {}))
        # A message with binary data for a comm that nobody has opened.
        unknown = uuid.uuid4().hex
        update = {"method": "update", "state": {"value": 1}, "buffer_paths": [["bytes"]]}
        self.peer.send("comm_msg", {"comm_id": unknown, "data": update}, buffers=[b"\x00\xff"])
        for name in (comm, unknown):
            self.peer.send("comm_close", {"comm_id": name, "data": {}})
        self.assertEqual(self.ask("comm_info_request", {})["comms"], {})

    def test_several_clients(self):
        """Each client gets only its own replies and questions. All get all outputs, with the session of the request.

        The answer to input_request: src/kernels/execution/cellExecutionMessageHandler.ts.
        """
        other = self.join()
        self.assertNotEqual(self.peer.session, other.session)
        mine = self.vscode_cell(self.peer, ASK)
        self.assertTrue(self.peer.until(lambda: mine.states))  # Otherwise the other client's message might come first.
        theirs = self.console_cell(other, '%%\nfmt.Println("other")')
        self.assertTrue(self.peer.until(lambda: mine.questions))
        other.rest(0.2)
        question = mine.questions[0]
        self.assertEqual((question["msg_type"], question["content"]), ("input_request", {"prompt": "name", "password": False}))
        self.assertEqual([m["msg_type"] for channel, m in other.others if channel != "iopub"], [])
        self.assertEqual(theirs.states, [])  # The other cell waits.
        self.peer.send("input_reply", {"value": "gopher", "status": "ok"}, "stdin", parent=question)
        self.assertEqual(self.done(mine)["status"], "ok")
        self.assertEqual(self.done(theirs, peer=other)["status"], "ok")
        for peer, own, foreign, text in ((self.peer, mine, theirs, "other\n"), (other, theirs, mine, "got gopher\n")):
            peer.rest(0.1)
            heard = [m for channel, m in peer.others
                     if channel == "iopub" and m["parent_header"].get("msg_id") == foreign.header["msg_id"]]
            self.assertEqual({m["parent_header"]["session"] for m in heard}, {foreign.header["session"]})
            printed = "".join(m["content"]["text"] for m in heard if m["msg_type"] == "stream")
            self.assertTrue(printed.endswith(text), printed)
            self.assertEqual([m["msg_type"] for channel, m in peer.others if channel in ("shell", "control")], [])

    # jupyter console

    @staticmethod
    def console_cell(peer, code):
        """run_cell in jupyter_console/ptshell.py, by execute of jupyter_client's client.py."""
        return peer.send("execute_request", {"code": code, "silent": False, "store_history": True, "user_expressions": {},
                                             "allow_stdin": True, "stop_on_error": True})

    def test_console_start(self):
        """init_kernel_info, show_banner and init_prompt_toolkit_cli in jupyter_console/ptshell.py."""
        self.console_cell(self.peer, "%% // console start")
        info = self.ask("kernel_info_request", {})
        self.assertTrue(info["banner"])
        self.assertEqual(info["language_info"]["pygments_lexer"], "go")
        for field in ("name", "version", "mimetype", "file_extension"):
            self.assertTrue(info["language_info"][field], field)
        # get_tail in jupyter_console/zmqhistory.py
        tail = {"raw": True, "output": False, "hist_access_type": "tail", "n": 1000}
        history = self.ask("history_request", tail, limit=CONSOLE_LIMIT)["history"]
        for session, line, cell in history:
            self.assertEqual((type(session), type(line), type(cell)), (int, int, str))
        self.assertEqual(history[-1][2], "%% // console start")

    def test_console_lines(self):
        """At each Enter, check_complete of ptshell.py sends all lines so far. After an answer that takes 1 s it stops."""
        texts = {"%%": "complete", "%%\nfor i := range 3 {": "incomplete", "%%\nfor i := range 3 {\n\tfmt.Println(i)": "incomplete",
                 "%%\nfor i := range 3 {\n\tfmt.Println(i)\n}": "complete", "func f(": "incomplete", "x := 1": "complete",
                 "func f() {}\nf()": "invalid",
                 "": "complete", "!ls": "complete"}
        for text, want in texts.items():
            answer = self.ask("is_complete_request", {"code": text}, limit=CONSOLE_LIMIT)
            self.assertEqual(answer["status"], want, text)
            self.assertIsInstance(answer.get("indent", ""), str)
        cell = self.console_cell(self.peer, "%%\nfor i := range 3 {\n\tfmt.Println(i)\n}")
        self.assertEqual((self.done(cell)["status"], cell.text()), ("ok", "0\n1\n2\n"))
        self.assertEqual(cell.content["payload"], [])
        # handle_execute_reply also uses the execution count of failed cells.
        failed = self.done(self.console_cell(self.peer, "nonsense"))
        self.assertEqual((failed["status"], type(failed["execution_count"])), ("error", int))

    def test_console_input(self):
        """handle_input_request of ptshell.py uses input of jupyter_client's client.py, which sends no parent."""
        cell = self.console_cell(self.peer, ASK)
        self.assertTrue(self.peer.until(lambda: cell.questions))
        self.peer.send("input_reply", {"value": "gopher"}, "stdin")
        self.assertEqual(self.done(cell)["status"], "ok")
        self.assertIn("got gopher", cell.text())

    def test_console_help(self):
        """complete_request of jupyter_console/completer.py, which waits 5 s and requires matches and metadata.

        The console has no key for inspect_request and does not ask for comms. Other clients that use jupyter_client,
        such as the Qt console, do both, with messages of the same form.
        """
        self.begin_help()
        for code in ("%%\nfmt.Prin", "%%\nnothingLikeIt.", "%%\n)"):
            found = self.ask("complete_request", {"code": code, "cursor_pos": len(code)}, limit=5)
            self.assertIsInstance(found["matches"], list, code)
            self.assertIsInstance(found["metadata"], dict)
            self.assertIsInstance(found["cursor_start"], int)
            self.typed(found)
        for level in (0, 1):
            found = self.ask("inspect_request", {"code": "%%\nfmt.Println(", "cursor_pos": 14, "detail_level": level})
            self.inspected(found)
            self.assertTrue(found["found"])
        self.assertEqual(self.ask("comm_info_request", {})["comms"], {})


class Papermill(unittest.TestCase):
    """Tests papermill -p by the command that adds a translator for Go."""

    VALUES = {"n": 5, "half": 0.5, "name": 'a "b" \n', "all": [1, 2.5], "on": True, "map": {"a": [1, "x"]}}

    def papermill(self, *args):
        return subprocess.run([sys.executable, "../papermill_go.py", *args], stdout=subprocess.PIPE, check=True, text=True).stdout

    def test_parameters(self):
        cell = new_code_cell('var n = 1 // the number of runs\nvar name string = "x"\nconst half = 1.0', metadata={"tags": ["parameters"]})
        use = new_code_cell('%%\nfmt.Printf("%d %g %q %g %v %v", n+1, half, name, all, on, map_)')
        book = new_notebook(cells=[cell, use], metadata={"kernelspec": {"name": KERNEL, "language": "go", "display_name": "Go"}})
        with tempfile.TemporaryDirectory() as folder:
            given, done, values = (os.path.join(folder, name) for name in ("in.ipynb", "out.ipynb", "values.json"))
            nbformat.write(book, given)
            with open(values, "w") as f:
                json.dump({k.replace("map", "map_"): v for k, v in self.VALUES.items() if k != "n"}, f)
            self.papermill("-p", "n", "5", "-f", values, given, done)
            out = [c["outputs"] for c in nbformat.read(done, 4).cells]
            about = self.papermill("--help-notebook", given)
        self.assertEqual(out[-1][0]["text"], '6 0.5 "a \\"b\\" \\n" [1 2.5] true map[a:[1 x]]')
        self.assertIn('name: string (default "x")', about)
        self.assertIn("the number of runs", about)


if __name__ == "__main__":
    unittest.main(verbosity=2)
