"""Runs jupyter_kernel_test's suite with the Go kernel, and tests what the kernel promises beyond the suite.

HYPERMODELS_TEST_KERNEL names another kernel to test, for example one that runs GoNB alone.
"""

import os
import socket
import tempfile
import threading
import time
import unittest
from contextlib import suppress
from queue import Empty
from uuid import uuid4

import jupyter_kernel_test
from jupyter_client.manager import start_new_kernel

KERNEL = os.environ.get("HYPERMODELS_TEST_KERNEL", "go-hypermodels")

# A ZeroMQ connection begins with the greeting, and then READY of a DEALER or a SUB.
HELLO = b"\xff" + bytes(8) + b"\x7f\x03\x01" + b"NULL".ljust(20, b"\x00") + bytes(32)
READY = b"\x04\x1c\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER"
READY_SUB = b"\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x03SUB"

CLEAR = """import "github.com/janpfeifer/gonb/gonbui/protocol"
%%
gonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{"application/x-clear-output": ""}})
gonbui.Sync()"""

PNG = """%%
var b bytes.Buffer
must.M(png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 4))))
gonbui.DisplayPNG(b.Bytes())
gonbui.Sync()"""


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

PICTURES = int(os.environ.get("HYPERMODELS_PICTURES", "100"))


class Conformance(jupyter_kernel_test.KernelTests):
    """The suite, with Go cells."""

    kernel_name = KERNEL
    language_name = "go"
    file_extension = ".go"
    code_hello_world = '%%\nfmt.Println("hello, world")'
    code_stderr = '%%\nfmt.Fprintln(os.Stderr, "oops")'
    code_generate_error = '%%\npanic("oops")'
    code_inspect_sample = "%%\nfmt.Println"
    code_clear_output = CLEAR
    code_display_data = [
        {"code": '%%\ngonbui.DisplayMarkdown("**a**")\ngonbui.Sync()', "mime": "text/markdown"},
        {"code": PNG, "mime": "image/png"},
    ]
    completion_samples = [
        # gopls also matches inside names.
        {"text": "%%\nfmt.Println", "matches": ["Println", "Fprintln", "Sprintln"]},
        {"text": "%%\nstrings.HasPref", "matches": ["HasPrefix"]},
        {"text": "%%\nfmt.Println(hyper.Hyper", "matches": ["Hypermodel"]},
    ]
    code_execute_result = [{"code": "6 * 7", "result": "42"}, {"code": 'x := "a"\nx + "b"', "result": '"ab"'}]
    complete_code_samples = ["%%\nfmt.Println(1)", "x := 1", "func f() {}", "%%bash\nls (", "!ls", "%%\ns := `a\nb`"]
    incomplete_code_samples = ["%%\nfor {", "func f() {", "%%\nf(1,", "%%\ns := `a", "!ls \\"]
    invalid_code_samples = ["func f() {}\nx := 1", "%%\n)", "%%\nx = = 1\ny()", "func f() {}}"]
    supported_history_operations = ("tail", "range", "search")
    code_history_pattern = "*history?one*"

    def test_history(self):
        # The suite's test of history uses the cells for execute_result.
        self.code_execute_result = [
            {"code": '%%\nfmt.Print("history-one")'},
            {"code": '%%\nfmt.Print("history-two")'},
        ]
        super().test_history()

    def test_pager(self):
        self.skipTest("Go has no `?name` that would fill a pager; inspection shows the same")


class Welcome(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = KERNEL
    support_iopub_welcome = True


class Beyond(unittest.TestCase):
    """Tests beyond the suite. All tests share one kernel, so no test may end it."""

    @classmethod
    def setUpClass(cls):
        cls.km, cls.kc = start_new_kernel(kernel_name=KERNEL)

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

    def stderr(self, outputs):
        return "".join(c["text"] for k, c in outputs if k == "stream" and c["name"] == "stderr")

    def test_panic(self):
        reply = self.fails("func third(x []int) int {\n\treturn x[2]\n}\n\n%%\nthird(nil)", "panic",
                           "runtime error: index out of range [2] with length 0")
        cell = reply["execution_count"]
        trace = "\n".join(reply["traceback"])
        self.assertIn(f"Cell In[{cell}], line 2\n    return x[2]\n", trace)
        # The function stays: a later cell fails in the earlier cell's function.
        later = self.fails("%%\n\nthird(nil)", "panic", reply["evalue"])
        trace = "\n".join(later["traceback"])
        self.assertIn(f"cell [{cell}], line 2", trace)
        self.assertIn(f"cell [{later['execution_count']}], line 3", trace)

    def test_must(self):
        reply, outputs = self.run_cell('func read() []byte { return must.M1(os.ReadFile("no-such-file")) }\n%%\nread()')
        self.assertEqual((reply["ename"], reply["evalue"]), ("panic", "open no-such-file: no such file or directory"))
        self.assertEqual(self.stderr(outputs), "")
        self.assertNotIn("janpfeifer/must", "\n".join(reply["traceback"]))
        self.assertIn(f"Cell In[{reply['execution_count']}], line 1", "\n".join(reply["traceback"]))

    def test_compile_error(self):
        cell = self.run_cell("%%")[0]["execution_count"] + 1
        reply = self.fails("%%\nfmt.Println(1)\nnothingLikeIt()", "CompileError", f"cell [{cell}], line 3: undefined: nothingLikeIt")
        self.assertEqual(reply["traceback"][1:], [f"Cell In[{cell}], line 3", "    nothingLikeIt()"])

        reply = self.fails("%%\nmath.Max(1)", "CompileError", f"cell [{cell + 1}], line 2: not enough arguments in call to math.Max")
        self.assertEqual([line.strip() for line in reply["traceback"][1:]],
                         [f"Cell In[{cell + 1}], line 2", "math.Max(1)", "have (number)", "want (float64, float64)"])

    def test_syntax_error(self):
        cell = self.run_cell("%%")[0]["execution_count"] + 1
        self.fails("func f() {}\nx := 1", "CompileError", f"cell [{cell}], line 2: expected declaration, found x")

    def test_dot_imports(self):
        """A dot import of an earlier cell, in any form, works where a cell needs it and is left out elsewhere."""
        for code in ('import . "strings"', 'import (\n\t"fmt"\n\t. "math"\n\thex "encoding/hex"\n)\n\n%%\nfmt.Println(Floor(1.5))'):
            reply, outputs = self.run_cell(code)
            self.assertEqual(reply["status"], "ok", outputs)
        for code, want in (('ToUpper("a")', "A"), ("1", "1"), ("Sqrt(4)", "2"), ('hex.EncodeToString([]byte("A"))', "41"),
                           ('TrimSpace(ToLower(" B ")), Pi > 3', "b true")):
            reply, outputs = self.run_cell(f"%%\nfmt.Println({code})")
            self.assertEqual((reply["status"], [c["text"] for k, c in outputs if k == "stream"]), ("ok", [want + "\n"]), code)
        cell = reply["execution_count"] + 1
        self.fails("%%\n\nfmt.Println(nothingLikeIt)", "CompileError", f"cell [{cell}], line 3: undefined: nothingLikeIt")

    def test_kept(self):
        """A kept value outlives its cell and its kernel. %kept shows and removes the value."""
        code = ('%%\nx := must.M1(notebook.Keep("conformance", func() ([]int, error) {\n\tfmt.Println("computed")\n'
                '\treturn []int{1, 2, MORE}, nil\n}))\nfmt.Println(x)')

        def text(code):
            reply, outputs = self.run_cell(code)
            self.assertEqual(reply["status"], "ok", outputs)
            return "".join(c["text"] for k, c in outputs if k == "stream")

        try:
            first = code.replace("MORE", "3")
            self.assertEqual(text(first), "computed\n[1 2 3]\n")
            self.assertEqual(text("%%\n// Another cell.\n" + first.removeprefix("%%\n")), "[1 2 3]\n")
            self.run_in_shell(f"kill -9 {self.gonb()}")
            self.assertEqual(text(first).splitlines()[-1], "[1 2 3]")
            self.assertEqual(text(code.replace("MORE", "4")), "computed\n[1 2 4]\n")
            self.assertIn("conformance  []int", text("%kept"))
        finally:
            self.run_cell("%kept --remove conformance")
        self.assertNotIn("conformance", text("%kept"))
        self.assertEqual(self.run_cell("%kept --remove conformance")[0]["ename"], "CommandError")

    def test_hyper(self):
        """%hyper runs the command: its figure changes in place, later cells read its results by name, its arguments are
        completed, and an interrupt saves the results."""
        def complete(code):
            request = self.kc.complete(code)
            return self.reply(request)

        with tempfile.TemporaryDirectory() as out:
            try:
                reply, outputs = self.run_cell(f"%hyper run gaussian --agent linear --runs 2 --periods 100 --set arms=5 --out {out}/tiny")
                self.assertEqual(reply["status"], "ok", outputs)
                shown = [c["data"] for k, c in outputs if k == "display_data"]
                self.assertEqual([k for k, _ in outputs if k == "stream"], [], "streams, want none")
                self.assertTrue(any("<img " in d.get("text/html", "") for d in shown), shown)
                self.assertTrue(any("| linear |" in d.get("text/markdown", "") for d in shown), shown)
                for name in "gaussian", "tiny":
                    reply, outputs = self.run_cell(f'%%\nh, rows := notebook.Results("{name}")\nfmt.Println(h.Spec.Runs, len(rows) > 0)')
                    self.assertEqual([c["text"] for k, c in outputs if k == "stream"], ["2 true\n"], outputs)
                self.fails("%hyper run gausian", "CommandError", "exit status 2: %hyper run gausian")
                got = complete("%hyper run ga")
                self.assertEqual((got["matches"], got["cursor_start"], got["cursor_end"]), (["gaussian"], 11, 13))
                self.assertIn("linear,ensemble", complete("%hyper run gaussian --agent linear,ens")["matches"])
                self.assertIn("particles=", complete("%%\n%hyper run gaussian --agent ensemble --set part")["matches"])
                self.assertIn("--periods", complete("%hyper run gaussian --per")["matches"])

                seen = []
                def interrupt():
                    seen.append(1)
                    self.km.interrupt_kernel()
                request = self.kc.execute(f"%hyper run gaussian --agent linear --runs 50 --periods 100000 --out {out}/long")
                said, updates = "", 0
                while True:
                    message = self.kc.get_iopub_msg(timeout=120)
                    if message["parent_header"].get("msg_id") != request:
                        continue
                    kind, content = message["msg_type"], message["content"]
                    if kind == "update_display_data" and "run-periods" in content["data"].get("text/html", ""):
                        updates += 1
                        if updates == 3:
                            interrupt()
                    if kind == "stream":
                        said += content["text"]
                    if kind == "status" and content["execution_state"] == "idle":
                        break
                self.assertEqual(self.reply(request)["ename"], "Interrupt")
                self.assertIn(f"`%hyper resume {out}/long` continues", said)
                self.assertEqual(self.run_cell('%%\n_, rows := notebook.Results("long")\nfmt.Println(len(rows))')[0]["status"], "ok")
            finally:
                for name in "gaussian", "tiny", "long":
                    self.run_cell(f"%kept --remove 'results of {name}'")

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
        self.assertEqual(len(self.reply(self.kc.comm_info())["comms"]), len(models))
        again = execute('%%\nfmt.Println("again")')
        until(again, idle)
        self.assertEqual(self.reply(again)["status"], "ok")
        deadline = time.time() + 10
        while self.reply(self.kc.comm_info())["comms"]:
            self.assertLess(time.time(), deadline, "the program with sliders still runs, 10 s after its cell ran again")
            time.sleep(0.05)

    def test_exit(self):
        self.fails("%%\nos.Exit(3)", "ExitError", "exit status 3")

    def test_commands(self):
        self.fails("!exit 3", "CommandError", "exit status 3: exit 3")
        self.fails("!exec false", "CommandError", "exit status 1: exec false")
        self.fails("%%bash\necho a\nexit 4", "CommandError", "exit status 4")
        self.fails("%%script no-such-program", "CommandError", 'exec: "no-such-program": executable file not found in $PATH')
        reply, outputs = self.run_cell('!echo one\n!false\n!echo two\n%%\nfmt.Println("three")')
        self.assertEqual((reply["status"], reply["evalue"]), ("error", "exit status 1: false"))
        self.assertEqual([c["text"] for k, c in outputs if k == "stream"], ["one\n"])
        for fine in ("!false || true", "%%bash\necho 'exit status 1' >&2", "!echo a \\\n  b"):
            self.assertEqual(self.run_cell(fine)[0]["status"], "ok", fine)

    def test_log_lines(self):
        reply, outputs = self.run_cell('%%\nlog.SetFlags(log.LstdFlags | log.Lshortfile)\nlog.Print("here")\nlog.Print("a:b:main.go:3:0: c")')
        self.assertEqual(reply["status"], "ok", outputs)
        self.assertIn(f"cell [{reply['execution_count']}], line 3: here\n", self.stderr(outputs))
        self.assertNotIn("\x1e", self.stderr(outputs))

    def test_dots(self):
        """Standard error shows while a program writes it, also without an end of line."""
        request = self.kc.execute('%%\nfor range 100 {\n\tfmt.Fprint(os.Stderr, ".")\n\ttime.Sleep(20 * time.Millisecond)\n}')
        times, dots = [], 0
        while dots < 100:
            message = self.kc.get_iopub_msg(timeout=60)
            if message["msg_type"] == "stream":
                dots += message["content"]["text"].count(".")
                times.append(time.monotonic())
        self.assertEqual((self.reply(request)["status"], dots), ("ok", 100))
        gaps = sorted(b - a for a, b in zip(times, times[1:]))
        self.assertLess(gaps[len(gaps) // 2], 0.2)
        self.assertGreater(len(times), 10)

    def test_interrupt(self):
        for code in ('%%\nfmt.Println("begun")\ntime.Sleep(time.Hour)', "!echo begun; sleep 1000\n!echo never"):
            self.fails(code, "Interrupt", "the cell was interrupted", during=self.km.interrupt_kernel)

    def test_interrupt_while_compiling(self):
        request = self.kc.execute('%%\nfmt.Println("never", 7)\ntime.Sleep(time.Hour)')
        time.sleep(0.1)
        self.km.interrupt_kernel()
        self.assertEqual(self.reply(request)["ename"], "Interrupt")

    def test_failure_aborts_what_waits(self):
        requests = [self.kc.execute(code) for code in ('%%\npanic("stop")', "%%", "%%")]
        self.assertEqual([self.reply(r)["status"] for r in requests], ["error", "aborted", "aborted"])
        self.assertEqual(self.run_cell("%%")[0]["status"], "ok")

    def test_go_test(self):
        reply, outputs = self.run_cell("func TestSum(t *testing.T) { if 1+1 != 2 { t.Error(1) } }\n%test")
        self.assertEqual(reply["status"], "ok", outputs)
        self.fails('func TestSum(t *testing.T) { t.Error("wrong") }\n%test', "ExitError", "exit status 1")

    def test_heartbeat(self):
        channel = self.kc.hb_channel
        channel.unpause()
        time.sleep(2.5)
        self.assertTrue(channel.is_beating())

    def test_comm_info(self):
        self.assertEqual(self.reply(self.kc.comm_info())["comms"], {})

    def test_input(self):
        request = self.kc.execute('%%\ngonbui.RequestInput("name", false)\nvar s string\nfmt.Scanln(&s)\nfmt.Println("got", s)', allow_stdin=True)
        self.assertEqual(self.kc.get_stdin_msg(timeout=30)["content"]["prompt"], "name")
        self.kc.input("gopher")
        self.assertEqual(self.reply(request)["status"], "ok")

    def test_whatever_reads_is_asked(self):
        for code in ('%%\nvar s string\nfmt.Scanln(&s)\nfmt.Println("got", s)', "!read s; echo got $s",
                     '%%\ns, _ := bufio.NewReader(os.Stdin).ReadString(10)\nfmt.Print("got ", s)'):
            request = self.kc.execute(code, allow_stdin=True)
            self.kc.get_stdin_msg(timeout=30)
            self.kc.input("gopher")
            self.assertEqual(self.reply(request)["status"], "ok")
            self.assertEqual(self.printed(request), "got gopher\n", code)
            self.assertEqual(self.prints(code, allow_stdin=False).strip(), "got")
        self.assertEqual(self.prints("%%\ntext, err := io.ReadAll(os.Stdin)\nfmt.Println(len(text), err)", allow_stdin=False), "0 <nil>\n")

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
        return "".join(c["text"] for k, c in outputs if k == "stream" and c["name"] == name)

    def test_a_changed_cell_runs_again(self):
        self.prints("func area(r float64) float64 { return r * r }")
        self.prints("func double(r float64) float64 { return 2 * area(r) }")
        said = self.prints("func area(r, s float64) float64 { return r * s }", "stderr")
        self.assertRegex(said, r"^double \(cell \[\d+\]\) is set aside, since it does not compile with this cell: not enough arguments")
        self.assertEqual(self.prints('%%\nfmt.Println("unrelated")'), "unrelated\n")
        reply = self.fails("%%\nfmt.Println(double(2))", "CompileError", f"cell [{self.number() + 1}], line 2: undefined: double")
        self.assertIn("was set aside: not enough arguments", "\n".join(reply["traceback"]))
        self.assertEqual(self.prints("func double(r float64) float64 { return 2 * area(r, r) }\n%%\nfmt.Println(double(2))"), "8\n")
        self.prints("%rm area")
        self.assertEqual(self.prints('%%\nfmt.Println("unrelated")'), "unrelated\n")

    def number(self):
        return self.run_cell("%%")[0]["execution_count"]

    def test_two_programs_in_a_cell(self):
        self.prints("func kept() int { return 1 }")
        cell = self.number() + 1
        self.fails('%%\nfmt.Println("a")\n%% \nfmt.Println("b")', "CompileError",
                   f"cell [{cell}], line 3: a second line %%: a cell has one program")
        self.assertEqual(self.prints("var text = `\n%%\n`\n%%\nfmt.Print(text, kept())"), "\n%%\n1")
        self.assertEqual(self.prints("fmt.Print(kept())\n"), "1")
        self.assertEqual(self.prints("var y = 1\n%%"), "")

    def test_statements_alone(self):
        self.assertEqual(self.prints('fmt.Println("hello")'), "hello\n")
        self.prints("x := 3")
        reply, outputs = self.run_cell("fmt.Println(x)")
        self.assertIn("a cell is a program, and its values end with it", "\n".join(reply["traceback"]))
        self.assertEqual(self.prints('import "fmt"\n\nfor i := range 2 {\n\tfmt.Print(i)\n}'), "01")
        self.run_cell("func kept2() int { return 7 }\n%%\nnothingLikeIt()")
        self.assertEqual(self.prints("%%\nfmt.Print(kept2())"), "7")

    def test_the_code_of_the_readme(self):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "README.md")) as f:
            code = f.read().split("```go\n")[1].split("```")[0]
        self.assertIn(self.prints(code), ("0\n", "1\n", "2\n"))

    def test_characters_stay_whole(self):
        text = "é漢🚀" * 5000
        self.assertEqual(self.prints('%%\nfmt.Print(strings.Repeat("é漢🚀", 5000))'), text)
        self.assertEqual(self.prints('%%\nfmt.Fprint(os.Stderr, strings.Repeat("é漢🚀", 5000))', "stderr"), text)
        self.assertEqual(self.prints('%%\nfor _, b := range []byte("é") {\n\tos.Stdout.Write([]byte{b})\n\ttime.Sleep(100 * time.Millisecond)\n}'), "é")
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

    def test_what_the_compiler_reads(self):
        self.fails('import _ "embed"\n\n//go:embed no-such-file.txt\nvar data string', "CompileError",
                   f"cell [{self.number() + 1}], line 3: pattern no-such-file.txt: no matching files found")
        self.assertEqual(self.prints('!echo here >embedded.txt\nimport _ "embed"\n\n//go:embed embedded.txt\nvar data string\n'
                                     '%%\nfmt.Print(data)\nos.Remove("embedded.txt")'), "here\n")
        self.prints('import _ "embed"\nvar data string')
        self.assertEqual(self.prints('/*\n#include <math.h>\n#cgo LDFLAGS: -lm\n*/\nimport "C"\n%%\nfmt.Print(float64(C.sqrt(4)))'), "2")
        self.assertEqual(self.prints("func crlf() int { return 1 }\r\n\r\n%%\r\nfmt.Print(crlf())\r\n"), "1")

    def test_the_module_of_the_notebook(self):
        """Cells import packages of a module that does not require this one, internal ones too, and take parameters as
        from papermill."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {"go.mod": "module example.com/mine\n\ngo 1.26\n", "internal/x/x.go": "package x\n\nconst V = 7\n",
                               "notes/n.txt": ""}.items():
                os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
                with open(os.path.join(folder, name), "w") as f:
                    f.write(text)
            where = self.prints("!pwd").strip()
            self.prints(f"%cd {folder}/notes")
            self.assertEqual(self.prints('import "example.com/mine/internal/x"\n%%\nfmt.Print(x.V)'), "7")
            self.prints(f"%cd {where}")
        self.assertEqual(self.prints('fmt.Print("without it")'), "without it")
        self.prints("var alpha = 0.5\nvar name = \"a\"")
        self.prints("// Parameters\nvar alpha = 0.9\nvar name = \"b\"")
        self.assertEqual(self.prints("fmt.Print(alpha, name)"), "0.9b")

    def test_what_runs_again_is_told_once(self):
        self.prints("var lucky = rand.Int64()")
        self.assertIn("lucky (cell [", self.prints("%%\nfmt.Print(lucky)", "stderr"))
        self.assertNotIn("lucky", self.prints("%%\nfmt.Print(lucky)", "stderr"))
        self.prints('var lucky = must.M1(notebook.Keep("lucky-of-suite", func() (int64, error) { return rand.Int64(), nil }))')
        self.assertEqual(self.prints("%%\nfmt.Print(lucky)"), self.prints("%%\nfmt.Print(lucky)"))
        self.prints("%rm lucky\n%kept --remove lucky-of-suite")

    def test_special_lines(self):
        self.fails("%dc /tmp\n%%\nfmt.Println(1)", "Error", "unknown line %dc in line 1: %help lists what there is")
        self.prints("func listed() {}")
        self.assertIn("listed (cell [", self.prints("%ls"))
        self.assertIn("%test", self.prints("%help"))
        self.assertEqual(self.prints("%exec shout a b\nfunc shout() { fmt.Print(flag.Args()) }"), "[a b]")
        self.fails("func deep(n int) int { return deep(n+1) + 1 }\n%%\nfmt.Println(deep(0))", "fatal error",
                   "stack overflow: recursive calls have filled a stack of 64 MiB")

    def test_minimal_requests(self):
        """Optional fields may be missing."""
        for kind, content in (("execute_request", {"code": "%%"}), ("complete_request", {"code": "", "cursor_pos": 0}),
                              ("inspect_request", {"code": "", "cursor_pos": 0}), ("history_request", {})):
            message = self.kc.session.msg(kind, content)
            self.kc.shell_channel.send(message)
            self.assertEqual(self.reply(message["header"]["msg_id"])["status"], "ok", kind)

    def test_user_expressions(self):
        """Each user expression gets an error in the protocol's form, because values do not outlive their cell."""
        reply, _ = self.run_cell("%%", user_expressions={"x": "1 + 1", "y": ""})
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
            self.assertEqual(self.run_cell("%%")[0]["status"], "ok")

    def test_debug_request(self):
        """VS Code sends debug requests. The answer has the form of the Debug Adapter Protocol."""
        self.kc.kernel_info()
        info = self.kc.get_shell_msg(timeout=10)["content"]
        self.assertFalse(info["debugger"])
        message = self.kc.session.msg("debug_request", {"seq": 3, "type": "request", "command": "initialize", "arguments": {}})
        self.kc.control_channel.send(message)
        answer = self.kc.get_control_msg(timeout=10)
        self.assertEqual(answer["msg_type"], "debug_reply")
        content = answer["content"]
        self.assertEqual((content["request_seq"], content["command"], content["success"]), (3, "initialize", False))

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
        self.assertEqual(self.run_cell("%%")[0]["status"], "ok")

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
        self.assertEqual(self.run_cell("%%")[0]["status"], "ok")

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
        cell = '%%\nline := strings.Repeat("x", 1<<20-1) + "\\n"\nfor range 40 {\n\tfmt.Print(line)\n}'
        reply, outputs = self.run_cell(cell)
        self.assertEqual(reply["status"], "ok")
        self.assertEqual(sum(len(c["text"]) for k, c in outputs if k == "stream"), 40 << 20)

    def test_pictures_of_programs_that_end(self):
        """No picture is lost. HYPERMODELS_PICTURES is the number of pictures (1000 for a full test)."""
        shown = []
        for i in range(PICTURES // 20):
            reply, outputs = self.run_cell(f"{PICTURES_AND_END} // {i}")
            self.assertEqual(reply["status"], "ok", outputs)
            shown.append(sum(k == "display_data" and "image/png" in c["data"] for k, c in outputs))
        self.assertEqual(shown, [20] * len(shown))

    def test_death_of_gonb(self):
        for code in ('%%\nfmt.Println("begun")\ntime.Sleep(time.Hour)',):
            reply, _ = self.run_cell(code, during=self.kill_gonb)
            self.assertEqual((reply["status"], reply["ename"]), ("error", "KernelError"))
        reply, _ = self.run_cell('%%\npanic("after")')
        self.assertIn(f"cell [{reply['execution_count']}], line 2", "\n".join(reply["traceback"]))
        self.kill_gonb()
        reply, outputs = self.run_cell("%%")
        self.assertEqual(reply["status"], "ok")
        self.assertIn("the settings of %env, %cd and %goflags are lost", self.stderr(outputs))

    def kill_gonb(self):
        self.run_in_shell(f"kill -9 {self.gonb()}")

    def gonb(self):
        from leftovers import descendants
        pid = self.km.provisioner.pid
        return next(p for p, argv in descendants(pid) if os.path.basename(argv[0]) == "gonb")

    def run_in_shell(self, command):
        self.assertEqual(os.system(command), 0)
        time.sleep(0.3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
