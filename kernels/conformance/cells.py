"""Tests what the kernel promises about cells: their errors, their declarations, and their special lines."""

import os
import tempfile
import unittest

from kernelcase import KernelCase


class Cells(KernelCase):
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
        self.assertEqual(self.stream(outputs, "stderr"), "")
        self.assertNotIn("janpfeifer/must", "\n".join(reply["traceback"]))
        self.assertEqual(self.stream(self.run_cell("notebook.Panels(0, 1, 1, 1)")[1], "stderr"), "")  # The package calls must.
        self.assertIn(f"Cell In[{reply['execution_count']}], line 1", "\n".join(reply["traceback"]))

    def test_compile_error(self):
        cell = self.number() + 1
        reply = self.fails("%%\nfmt.Println(1)\nnothingLikeIt()", "CompileError", f"cell [{cell}], line 3: undefined: nothingLikeIt")
        self.assertEqual(reply["traceback"][1:], [f"Cell In[{cell}], line 3", "    nothingLikeIt()"])

        reply = self.fails("%%\nmath.Max(1)", "CompileError", f"cell [{cell + 1}], line 2: not enough arguments in call to math.Max")
        self.assertEqual([line.strip() for line in reply["traceback"][1:]],
                         [f"Cell In[{cell + 1}], line 2", "math.Max(1)", "have (number)", "want (float64, float64)"])
        self.fails('%%\nfmt.Print()\nfmt.Printn("a")', "CompileError", f"cell [{cell + 2}], line 3: undefined: fmt.Printn")
        reply = self.fails("%%\n1 + 1", "CompileError", f"cell [{cell + 3}], line 2: 1 + 1 (untyped int constant 2) is not used")
        self.assertIn("to show a value, print it", reply["traceback"][-1])

    def test_dot_imports(self):
        """A dot import of an earlier cell, in any form, works where a cell needs it and is left out elsewhere."""
        for code in ('import . "strings"', 'import (\n\t"fmt"\n\t. "math"\n\thex "encoding/hex"\n)\n\n%%\nfmt.Println(Floor(1.5))'):
            reply, outputs = self.run_cell(code)
            self.assertEqual(reply["status"], "ok", outputs)
        for code, want in (("1", "1"), ('TrimSpace(ToLower(" B ")), Pi > 3, hex.EncodeToString([]byte("A"))', "b true 41")):
            reply, outputs = self.run_cell(f"%%\nfmt.Println({code})")
            self.assertEqual((reply["status"], [c["text"] for k, c in outputs if k == "stream"]), ("ok", [want + "\n"]), code)
        cell = reply["execution_count"] + 1
        self.fails("%%\n\nfmt.Println(nothingLikeIt)", "CompileError", f"cell [{cell}], line 3: undefined: nothingLikeIt")

    def test_hyper(self):
        """%hyper runs the command: its figure changes in place, later cells read its results, its arguments are
        completed, and an interrupt saves the results."""
        def complete(code):
            request = self.kc.complete(code)
            return self.reply(request)

        with tempfile.TemporaryDirectory() as out:
            reply, outputs = self.run_cell(f"%hyper run gaussian --agent linear --runs 2 --periods 100 --set arms=5 --out {out}/tiny")
            self.assertEqual(reply["status"], "ok", outputs)
            shown = [c["data"] for k, c in outputs if k == "display_data"]
            self.assertEqual([k for k, _ in outputs if k == "stream"], [], "streams, want none")
            self.assertTrue(any("<img " in d.get("text/html", "") for d in shown), shown)
            self.assertTrue(any("| linear |" in d.get("text/markdown", "") for d in shown), shown)
            self.fails("%hyper run gausian", "CommandError", "exit status 2: %hyper run gausian")
            got = complete("%hyper run ga")
            self.assertEqual((got["matches"], got["cursor_start"], got["cursor_end"]), (["gaussian"], 11, 13))
            self.assertIn("linear,ensemble", complete("%hyper run gaussian --agent linear,ens")["matches"])
            self.assertIn("particles=", complete("%%\n%hyper run gaussian --agent ensemble --set part")["matches"])
            self.assertIn("--periods", complete("%hyper run gaussian --per")["matches"])

            request = self.kc.execute(f"%hyper run gaussian --agent linear --runs 20 --periods 100000 --workers 1 --out {out}/long")
            said, updates = "", 0
            while True:
                message = self.kc.get_iopub_msg(timeout=120)
                if message["parent_header"].get("msg_id") != request:
                    continue
                kind, content = message["msg_type"], message["content"]
                if kind == "update_display_data" and "run-periods" in content["data"].get("text/html", ""):
                    updates += 1
                    if updates == 2:
                        self.km.interrupt_kernel()
                if kind == "stream":
                    said += content["text"]
                if kind == "status" and content["execution_state"] == "idle":
                    break
            self.assertEqual(self.reply(request)["ename"], "Interrupt")
            self.assertIn(f"`%hyper resume {out}/long` continues", said)
            read = f'%%\nh, rows := notebook.Results("{out}/tiny")\n_, long := notebook.Results("{out}/long")\n'
            self.assertEqual(self.prints(read + "fmt.Println(h.Spec.Runs, len(rows) > 0, len(long) > 0)"), "2 true true\n")

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
        self.assertIn(f"cell [{reply['execution_count']}], line 3: here\n", self.stream(outputs, "stderr"))
        self.assertNotIn("\x1e", self.stream(outputs, "stderr"))

    def test_go_test(self):
        reply, outputs = self.run_cell("func TestSum(t *testing.T) { if 1+1 != 2 { t.Error(1) } }\n%test")
        self.assertEqual(reply["status"], "ok", outputs)
        reply, outputs = self.run_cell('func TestSum(t *testing.T) {\n\tt.Error("wrong")\n}\n%test')
        self.assertEqual((reply["ename"], reply["evalue"]), ("ExitError", "exit status 1"))
        self.assertIn(f"cell [{reply['execution_count']}], line 2: wrong\n", self.stream(outputs, "stdout"))

    def test_a_changed_cell_runs_again(self):
        self.prints("func area(r float64) float64 { return r * r }\n\nfunc double(r float64) float64 { return 2 * area(r) }")
        said = self.prints("func area(r, s float64) float64 { return r * s }", "stderr")
        self.assertRegex(said, r"^double \(cell \[\d+\]\) is set aside, since it does not compile with this cell: not enough arguments")
        reply = self.fails("%%\nfmt.Println(double(2))", "CompileError", f"cell [{self.number() + 1}], line 2: undefined: double")
        self.assertIn("was set aside: not enough arguments", "\n".join(reply["traceback"]))
        self.prints("%rm area")
        self.assertNotIn("area (cell", self.prints("%ls"))

    def test_two_programs_in_a_cell(self):
        self.prints("func kept() int { return 1 }")
        cell = self.number() + 1
        self.fails('%%\nfmt.Println("a")\n%% \nfmt.Println("b")', "CompileError",
                   f"cell [{cell}], line 3: a second line %%: a cell has one program")
        self.assertEqual(self.prints("var text = `\n%%\n`\n%%\nfmt.Print(text, kept())"), "\n%%\n1")

    def test_statements_alone(self):
        self.prints("x := 3")
        reply, outputs = self.run_cell("fmt.Println(x)")
        self.assertIn("a cell is a program, and its values end with it", "\n".join(reply["traceback"]))
        result = [c["data"]["text/plain"] for k, c in self.run_cell('strconv.Atoi("x")')[1] if k == "execute_result"]
        self.assertEqual(result, ['strconv.Atoi: parsing "x": invalid syntax'])
        self.run_cell("func two() int { return 2 }\n%%\nnothingLikeIt()")  # The declaration stays.
        self.assertEqual(self.prints('import "fmt"\n\nfor i := range two() {\n\tfmt.Print(i)\n}'), "01")

    def test_the_code_of_the_readme(self):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "README.md")) as f:
            code = f.read().split("```go\n")[1].split("```")[0]
        self.assertIn(self.prints(code), ("0\n", "1\n", "2\n"))

    def test_what_the_compiler_reads(self):
        self.fails('import _ "embed"\n\n//go:embed no-such-file.txt\nvar data string', "CompileError",
                   f"cell [{self.number() + 1}], line 3: pattern no-such-file.txt: no matching files found")
        self.assertEqual(self.prints('!echo here >embedded.txt\nimport _ "embed"\n\n//go:embed embedded.txt\nvar data string\n'
                                     '%%\nfmt.Print(data)\nos.Remove("embedded.txt")'), "here\n")
        self.prints("%rm data")
        self.assertEqual(self.prints('/*\n#include <math.h>\n#cgo LDFLAGS: -lm\n*/\nimport "C"\n%%\nfmt.Print(float64(C.sqrt(4)))'), "2")

    def test_the_module_of_the_notebook(self):
        """Cells import packages of a module that does not require this one, internal ones too."""
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

    def test_what_runs_again_is_told(self):
        self.prints("var lucky = rand.Int64()")
        self.assertIn("lucky (cell [", self.prints("%%\nfmt.Print(lucky)", "stderr"))
        first = self.prints('var lucky = cache.Cache("lucky-of-suite", rand.Int64)\n%%\nfmt.Print(lucky)')
        self.assertEqual(self.prints('%%\nfmt.Print(lucky)\nmust.M(cache.ResetKey("lucky-of-suite"))'), first)
        self.prints("%rm lucky")

    def test_special_lines(self):
        self.fails("%dc /tmp\n%%\nfmt.Println(1)", "Error",
                   "unknown special line %dc in line 1: %help lists the special lines")
        self.prints("func listed() {}")
        self.assertIn("listed (cell [", self.prints("%ls"))
        self.assertIn("%test", self.prints("%help"))
        self.assertEqual(self.prints("%exec shout a b\nfunc shout() { fmt.Print(flag.Args()) }"), "[a b]")
        self.fails("func deep(n int) int { return deep(n+1) + 1 }\n%%\nfmt.Println(deep(0))", "fatal error",
                   "stack overflow: recursive calls have filled a stack of 64 MiB")


if __name__ == "__main__":
    unittest.main(verbosity=2)
