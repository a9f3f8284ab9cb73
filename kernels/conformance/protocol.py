"""Tests what the kernel promises about Jupyter's messages, beyond the suite of jupyter_kernel_test."""

import os
import socket
import threading
import time
import unittest
from contextlib import suppress
from queue import Empty
from uuid import uuid4

from kernelcase import KERNEL, KernelCase

# A ZeroMQ connection begins with the greeting, and then READY of a DEALER or a SUB.
HELLO = b"\xff" + bytes(8) + b"\x7f\x03\x01" + b"NULL".ljust(20, b"\x00") + bytes(32)
READY = b"\x04\x1c\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER"
READY_SUB = b"\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x03SUB"

# A program that shows twenty pictures and ends while GoNB, its grandparent, is stopped. So GoNB sees the pictures and
# the end at the same time.
PICTURES_AND_END = """%%
noise := image.NewGray(image.Rect(0, 0, 40, 40))
for i := range noise.Pix {
	noise.Pix[i] = uint8(rand.Uint32())
}
var b bytes.Buffer
must.M(png.Encode(&b, noise))
gonbui.Sync() // Now the pipes are open: a stopped GoNB opens none.
stat := strings.Fields(string(must.M1(os.ReadFile(fmt.Sprintf("/proc/%d/stat", os.Getppid())))))
gonb := stat[3]
late := exec.Command("sh", "-c", "kill -STOP "+gonb+"; sleep 0.2; kill -CONT "+gonb)
late.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
must.M(late.Start())
for !strings.Contains(string(must.M1(os.ReadFile("/proc/"+gonb+"/stat"))), ") T ") {
	time.Sleep(time.Millisecond)
}
for range 20 {
	gonbui.DisplayPNG(b.Bytes())
}"""

PICTURES = int(os.environ.get("HYPERMODELS_PICTURES", "40"))


class Protocol(KernelCase):
    def test_comm(self):
        """A program opens a comm to the front end. The comm is closed when the program has ended."""
        request = self.kc.execute(
            "import \"github.com/hypermodels/hypermodels/hyper/notebook/frontend\"\n%%\nc := must.M1(frontend.Open())\nheard := make(chan string)\n"
            'comm := must.M1(c.Comm("conformance", map[string]any{"a": 1}, nil, func(d json.RawMessage) { heard <- string(d) }, func() {}))\n'
            "must.M(comm.Send([]int{1}))\nfmt.Println(<-heard)\nmust.M(c.Close())")
        seen = []
        while True:
            message = self.kc.get_iopub_msg(timeout=60)
            if message["parent_header"].get("msg_id") != request:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind in ("comm_open", "comm_msg", "comm_close", "stream"):
                seen.append((kind, content.get("data", content.get("text"))))
            if kind == "comm_open":
                comm = content["comm_id"]
                self.assertEqual(content["target_name"], "conformance")
            if kind == "comm_msg":
                self.kc.shell_channel.send(self.kc.session.msg("comm_msg", {"comm_id": comm, "data": {"b": 2}}))
            if kind == "status" and content["execution_state"] == "idle":  # Printed text may come after comm_close.
                break
        self.assertEqual(self.reply(request)["status"], "ok")
        self.assertEqual([s for s in seen if s[0] != "stream"], [("comm_open", {"a": 1}), ("comm_msg", [1]), ("comm_close", {})])
        self.assertEqual([t for k, t in seen if k == "stream"], ['{"b":2}\n'] if ('stream', '{"b":2}\n') in seen else ['{"b": 2}\n'])
        self.assertEqual(self.reply(self.kc.comm_info())["comms"], {})

    def test_help(self):
        """Completions have types and signatures, also of earlier cells' declarations. Inspection is Markdown and text."""
        def complete(code):
            request = self.kc.complete(code)
            content = self.reply(request)
            types = {t["text"]: (t["type"], t["signature"]) for t in content["metadata"]["_jupyter_types_experimental"]}
            return types, content["cursor_start"], content["cursor_end"]

        def inspect(code):
            return self.reply(self.kc.inspect(code))

        self.assertEqual(complete("%%\nstrings.HasPref"), ({"HasPrefix": ("function", "func(s string, prefix string) bool")}, 11, 18))
        self.assertEqual(complete("%%\nx := agent.Config{}\nx.Seed")[0]["Seed"], ("field", "uint64"))
        self.run_cell("// helped is for help.\nfunc helped(é int) (s string) { return }\n\ntype helpedType struct{ Field float64 }")
        self.assertEqual(complete("%%\nvar é helpedType\né.")[0], {"Field": ("field", "float64")})
        self.assertEqual(complete("func helped(x bool) {}\n\n%%\nhelpe")[0]["helped"], ("function", "func(x bool)"))
        for code in "%%\nhelped", "%%\nhelped(1, ":
            data = inspect(code)["data"]
            self.assertTrue(data["text/plain"].startswith("func helped(é int) (s string)\n\nhelped is for help."), data)
            self.assertIn("```go\nfunc helped", data["text/markdown"])
        beyond = self.reply(self.kc.inspect("%%\nfmt.Println(helped", cursor_pos=100))
        self.assertTrue(beyond["data"]["text/plain"].startswith("func helped("), beyond)
        self.assertFalse(inspect("!ls")["found"])
        self.assertEqual(self.reply(self.kc.complete("%%bash\nfm"))["matches"], [])

    def test_help_beside_a_cell(self):
        """The kernel answers completion and inspection while a cell runs. It completes the names of magics."""
        self.reply(self.kc.complete("%%\nstrings.HasPref"))  # This starts gopls.
        cell = self.kc.execute('%%\nfmt.Println("began")\ntime.Sleep(20*time.Second)')
        while self.kc.get_iopub_msg(timeout=60)["msg_type"] != "stream":
            pass
        began = time.time()
        self.assertEqual(self.reply(self.kc.complete("%%\nstrings.HasPref"))["matches"], ["HasPrefix"])
        self.assertTrue(self.reply(self.kc.inspect("%%\nfmt.Println"))["found"])
        self.assertEqual(self.reply(self.kc.complete("%hy"))["matches"], ["%hyper"])
        self.assertLess(time.time() - began, 10)
        self.km.interrupt_kernel()
        self.assertEqual(self.reply(cell)["ename"], "Interrupt")

    def test_explore(self):
        """A program with sliders continues after its cell has ended, draws again when a slider moves, and ends when its
        cell runs again."""
        def execute(code):
            content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False, "stop_on_error": True}
            message = self.kc.session.msg("execute_request", content, metadata={"cellId": "explored"})
            self.kc.shell_channel.send(message)
            return message["header"]["msg_id"]

        def until(request, done):
            while True:
                message = self.kc.get_iopub_msg(timeout=60)
                if message["parent_header"].get("msg_id") == request and (found := done(message["msg_type"], message["content"])):
                    return found

        models, shown = {}, []

        def idle(kind, content):
            if kind == "comm_open":
                models[content["comm_id"]] = content["data"]["state"]
            if kind == "display_data":
                shown.append(content["data"])
            self.assertNotEqual(kind, "error", content)
            return kind == "status" and content["execution_state"] == "idle"

        request = execute('%%\nspec := must.M1(paper.Gaussian.Spec([]string{"linear"}, []string{"arms=5"}, lab.Size{Periods: 20, Runs: 2}, 1))\n'
                          'notebook.Explore(spec, "index-dim", "optimizer=sgd,adam", "period")\nfmt.Println("never")')
        until(request, idle)
        self.assertEqual(self.reply(request)["status"], "ok")
        self.assertEqual(len(shown), 1)
        self.assertIn("data:image/png", shown[0]["text/html"])  # A page without the program shows this picture.
        box = models[shown[0]["application/vnd.jupyter.widget-view+json"]["model_id"]]
        children = [name.removeprefix("IPY_MODEL_") for name in box["children"]]
        slider, choice, period, status, image = children
        self.assertEqual([models[c]["_model_name"] for c in children],
                         ["IntSliderModel", "SelectionSliderModel", "IntSliderModel", "HTMLModel", "HTMLModel"])
        self.assertEqual((models[slider]["description"], models[slider]["value"], models[period]["max"]), ("index-dim", 10, 20))

        def move(model, state, wanted="data:image/png"):
            """Move a control; return the next picture or error status that contains the wanted text."""
            message = self.kc.session.msg("comm_msg", {"comm_id": model, "data": {"method": "update", "state": state, "buffer_paths": []}})
            self.kc.shell_channel.send(message)
            idle, drawn = False, None  # The program may answer before the kernel is idle again.
            while not (idle and drawn):
                came = self.kc.get_iopub_msg(timeout=60)
                kind, content, parent = came["msg_type"], came["content"], came["parent_header"].get("msg_id")
                if parent == message["header"]["msg_id"]:
                    idle = idle or kind == "status" and content["execution_state"] == "idle"
                elif parent == request and kind == "comm_msg" and not drawn:
                    value = content["data"]["state"].get("value", "")
                    drawn = value if wanted in value and (content["comm_id"] == image or "color:" in value) else None
            return drawn

        first = models[image]["value"]
        second = move(slider, {"value": 2})
        self.assertIn("data:image/png", second)
        self.assertNotEqual(first, second)
        self.assertNotEqual(move(choice, {"index": 1}), second)
        move(slider, {"value": 0}, "index-dim must be")
        reply, outputs = self.run_cell('%%\nfmt.Println("beside")')  # The kernel is free.
        self.assertEqual([c["text"] for k, c in outputs if k == "stream"], ["beside\n"])
        self.assertNotEqual(move(slider, {"value": 10}), first)  # Adam is still chosen.
        # A page that is loaded again asks for the state, and accepts only an answer to its own message.
        asked = self.kc.session.msg("comm_msg", {"comm_id": slider, "data": {"method": "request_state"}})
        self.kc.shell_channel.send(asked)
        state = until(asked["header"]["msg_id"], lambda kind, content: kind == "comm_msg" and content["data"]["state"])
        self.assertEqual(state["value"], 10)
        self.assertEqual(len(self.reply(self.kc.comm_info())["comms"]), len(models))
        again = execute('%%\nfmt.Println("again")')
        until(again, idle)
        self.assertEqual(self.reply(again)["status"], "ok")
        deadline = time.time() + 10
        while self.reply(self.kc.comm_info())["comms"]:
            self.assertLess(time.time(), deadline, "the program with sliders still runs, 10 s after its cell ran again")
            time.sleep(0.05)

    def test_dots(self):
        """Standard error shows while a program writes it, also without an end of line."""
        request = self.kc.execute('%%\nfor range 50 {\n\tfmt.Fprint(os.Stderr, ".")\n\ttime.Sleep(20 * time.Millisecond)\n}')
        times, dots = [], 0
        while dots < 50:
            message = self.kc.get_iopub_msg(timeout=60)
            if message["msg_type"] == "stream":
                dots += message["content"]["text"].count(".")
                times.append(time.monotonic())
        self.assertEqual((self.reply(request)["status"], dots), ("ok", 50))
        gaps = sorted(b - a for a, b in zip(times, times[1:]))
        self.assertLess(gaps[len(gaps) // 2], 0.2)
        self.assertGreater(len(times), 5)

    def test_interrupt_of_a_command(self):
        """clients.py interrupts a program."""
        self.fails("!echo begun; sleep 1000\n!echo never", "Interrupt", "the cell was interrupted", during=self.km.interrupt_kernel)

    def test_interrupt_while_compiling(self):
        request = self.kc.execute('%%\nfmt.Println("never", 7)\ntime.Sleep(time.Hour)')
        time.sleep(0.1)
        self.km.interrupt_kernel()
        self.assertEqual(self.reply(request)["ename"], "Interrupt")

    def test_failure_aborts_what_waits(self):
        requests = [self.kc.execute(code) for code in ('%%\npanic("stop")', "%%", "%%")]
        replies = [self.reply(r) for r in requests]
        self.assertEqual([r["status"] for r in replies], ["error", "aborted", "aborted"])
        self.assertEqual(["execution_count" in r for r in replies], [True, False, False])
        self.assertEqual(self.run_cell("")[0]["status"], "ok")

    def test_heartbeat(self):
        channel = self.kc.hb_channel
        channel.unpause()
        time.sleep(1.5)
        self.assertTrue(channel.is_beating())

    def test_whatever_reads_is_asked(self):
        for code in ('%%\nvar s string\nfmt.Scanln(&s)\nfmt.Println("got", s)', "!read s; echo got $s"):
            request = self.kc.execute(code, allow_stdin=True)
            self.kc.get_stdin_msg(timeout=30)
            self.kc.input("gopher")
            self.assertEqual(self.reply(request)["status"], "ok")
            self.assertEqual(self.printed(request), "got gopher\n", code)
        self.assertEqual(self.prints("!read s; echo got $s", allow_stdin=False), "got\n")
        self.assertEqual(self.prints("%%\ntext, err := io.ReadAll(os.Stdin)\nfmt.Println(len(text), err)", allow_stdin=False), "0 <nil>\n")

    def test_characters_stay_whole(self):
        text = "é漢🚀" * 5000
        reply, outputs = self.run_cell('%%\ntext := strings.Repeat("é漢🚀", 5000)\nfmt.Print(text)\nfmt.Fprint(os.Stderr, text)\n'
                                       'for _, b := range []byte("é") {\n\tos.Stdout.Write([]byte{b})\n\ttime.Sleep(100 * time.Millisecond)\n}')  # fmt: skip
        self.assertEqual(reply["status"], "ok", outputs)
        self.assertEqual((self.stream(outputs, "stdout"), self.stream(outputs, "stderr")), (text + "é", text))
        self.assertEqual(self.prints("!printf '\\303'; sleep 0.2; printf '\\251'"), "é")

    def test_a_page_that_comes_later(self):
        """While a cell runs, the kernel answers a new page, says that it is busy, and gives the cells' outputs so far."""
        if KERNEL == "gonb":
            self.skipTest("GoNB alone does not keep outputs for a new page")

        def ask(data):
            comm = uuid4().hex
            self.kc.shell_channel.send(self.kc.session.msg("comm_open", {"comm_id": comm, "target_name": "hypermodels.cells", "data": data}))
            while (m := self.kc.get_iopub_msg(timeout=10))["msg_type"] != "comm_close" or m["content"]["comm_id"] != comm:
                if m["msg_type"] == "comm_msg" and m["content"]["comm_id"] == comm:
                    answer = m["content"]["data"]
            return answer if "saved" not in data else None

        message = self.kc.session.msg("execute_request", {"code": '%%\nfmt.Print("one ")\ntime.Sleep(3*time.Second)\nfmt.Print("two")'},
                                      metadata={"cellId": "c"})  # fmt: skip
        request = message["header"]["msg_id"]
        self.kc.shell_channel.send(message)
        while self.kc.get_iopub_msg(timeout=60)["msg_type"] != "stream":
            pass
        self.assertEqual([(c["request"], c["cell"], c["done"]) for c in ask({})["cells"] if c["cell"] == "c"], [(request, "c", False)])
        taken = ask({"take": request})
        self.assertEqual([o["content"] for o in taken["outputs"]], [{"name": "stdout", "text": "one "}])
        for get in self.kc.kernel_info, self.kc.comm_info:
            began = time.time()
            self.assertEqual(self.reply(get())["status"], "ok")
            self.assertLess(time.time() - began, 1)
        self.kc.control_channel.send(self.kc.session.msg("kernel_info_request"))
        self.kc.get_control_msg(timeout=10)
        states = []
        with suppress(Empty):
            while True:
                m = self.kc.get_iopub_msg(timeout=0.5)
                if m["msg_type"] == "status":
                    states.append(m["content"]["execution_state"])
        self.assertEqual(states[-1], "busy")
        self.assertEqual(self.reply(request)["status"], "ok")
        taken = ask({"take": request})
        self.assertEqual([o["content"]["text"] for o in taken["outputs"]], ["one two"])
        self.assertTrue(taken["done"])
        ask({"saved": [request]})
        self.assertEqual(ask({"take": request}), {})

    def test_minimal_requests(self):
        """Optional fields may be missing."""
        for kind, content in (("execute_request", {"code": "%%"}), ("complete_request", {"code": "", "cursor_pos": 0}),
                              ("inspect_request", {"code": "", "cursor_pos": 0}), ("history_request", {})):
            message = self.kc.session.msg(kind, content)
            self.kc.shell_channel.send(message)
            self.assertEqual(self.reply(message["header"]["msg_id"])["status"], "ok", kind)

    def test_user_expressions(self):
        """Each user expression gets an error in the protocol's form, because values do not outlive their cell."""
        reply, _ = self.run_cell("", user_expressions={"x": "1 + 1", "y": ""})
        self.assertEqual(reply["status"], "ok")
        self.assertEqual(set(reply["user_expressions"]), {"x", "y"})
        for answer in reply["user_expressions"].values():
            self.assertEqual((answer["status"], answer["ename"]), ("error", "NotSupported"))
            self.assertTrue(answer["evalue"] and answer["traceback"])

    def test_silent(self):
        """A silent request publishes only its state, also if it fails."""
        noisy = '%%\nfmt.Println("out")\nfmt.Fprintln(os.Stderr, "err")\ngonbui.DisplayMarkdown("**a**")'
        for code, status in ((noisy, "ok"), ('%%\npanic("no")', "error"), ("nonsense", "error")):
            reply, outputs = self.run_cell(code, silent=True)
            self.assertEqual((reply["status"], outputs), (status, []))

    def test_strangers(self):
        """A message with a wrong signature gets no answer, and the kernel continues."""
        key = self.kc.session.key
        self.kc.session.key = b"wrong"
        try:
            self.kc.kernel_info()
        finally:
            self.kc.session.key = key
        with self.assertRaises(Empty):
            self.kc.get_shell_msg(timeout=0.5)
        self.assertEqual(self.run_cell("")[0]["status"], "ok")

    def test_hostile_bytes(self):
        """A thousand connections without the key, while a cell runs, have no effect that the user sees."""
        junk = [(), (HELLO,), (HELLO, b"\x06" + b"\x7f" + b"\xff" * 7), (HELLO, READY), (b"GET / HTTP/1.1\r\n\r\n" * 4,),
                (HELLO, READY, b"\x02" + b"\x7f" + b"\xff" * 7), (HELLO, READY, b"\x02" + (1 << 20).to_bytes(8, "big") + b"x")]
        ports = [getattr(self.km, name) for name in ("shell_port", "control_port", "stdin_port", "hb_port", "iopub_port")]
        came = []

        def attack():
            for i in range(1000):
                s = self.stranger(ports[i % len(ports)], *junk[i % len(junk)])
                came.append(s)
                if i % 3:
                    s.close()

        attacker = threading.Thread(target=attack)
        cell = '%%\nfmt.Println("begun")\nfor i := range 100 {\n\tfmt.Println(i)\n\ttime.Sleep(20 * time.Millisecond)\n}'
        reply, outputs = self.run_cell(cell, during=attacker.start)
        self.assertEqual(reply["status"], "ok", outputs)
        text = "".join(c["text"] for k, c in outputs if k == "stream")
        self.assertEqual(text, "begun\n" + "".join(f"{i}\n" for i in range(100)))
        attacker.join()
        self.assertEqual(len(came), 1000)
        self.assertEqual(self.run_cell("")[0]["status"], "ok")

    def test_stalled_subscriber(self):
        """A client that stops reading does not delay other clients."""
        for _ in range(3):
            self.stranger(self.km.iopub_port, HELLO, READY_SUB, b"\x00\x01\x01")
        began = time.monotonic()
        for _ in range(300):
            self.kc.kernel_info()
        idle = 0
        while idle < 300:
            message = self.kc.get_iopub_msg(timeout=10)
            idle += message["content"].get("execution_state") == "idle"
        self.assertLess(time.monotonic() - began, 10)
        # This is more than the system buffers for a client that does not read; the kernel buffers 64 MB.
        cell = '%%\nline := strings.Repeat("x", 1<<20-1) + "\\n"\nfor range 16 {\n\tfmt.Print(line)\n}'
        reply, outputs = self.run_cell(cell)
        self.assertEqual(reply["status"], "ok")
        self.assertEqual(sum(len(c["text"]) for k, c in outputs if k == "stream"), 16 << 20)

    def test_pictures_of_programs_that_end(self):
        """No picture is lost. HYPERMODELS_PICTURES is the number of pictures (1000 for a full test)."""
        shown = []
        for i in range(PICTURES // 20):
            reply, outputs = self.run_cell(f"{PICTURES_AND_END} // {i}")
            self.assertEqual(reply["status"], "ok", outputs)
            shown.append(sum(k == "display_data" and "image/png" in c["data"] for k, c in outputs))
        self.assertEqual(shown, [20] * len(shown))

    def test_death_of_gonb(self):
        reply, _ = self.run_cell('%%\nfmt.Println("begun")\ntime.Sleep(time.Hour)', during=self.kill_gonb)
        self.assertEqual((reply["status"], reply["ename"]), ("error", "KernelError"))
        reply, _ = self.run_cell('%%\npanic("after")')
        self.assertIn(f"cell [{reply['execution_count']}], line 2", "\n".join(reply["traceback"]))
        self.kill_gonb()
        reply, outputs = self.run_cell("%%")
        self.assertEqual(reply["status"], "ok")
        self.assertIn("the settings of %env, %cd and %goflags are lost", self.stream(outputs, "stderr"))

    def stranger(self, port, *say):
        """Open a connection without the key, send the parts, and leave the connection open without reading from it."""
        s = socket.create_connection((self.km.ip, port), timeout=5)
        self.addCleanup(s.close)
        try:
            for part in say:
                s.sendall(part)
        except OSError:
            pass  # The kernel has closed the connection.
        return s


if __name__ == "__main__":
    unittest.main(verbosity=2)
