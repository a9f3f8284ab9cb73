"""Runs jupyter_kernel_test's suite with the Go kernel.

HYPERMODELS_TEST_KERNEL names another kernel to test, for example one that runs GoNB alone.
"""

import unittest

from kernelcase import KERNEL  # First: it prevents a slow import.

import jupyter_kernel_test

CLEAR = """import "github.com/janpfeifer/gonb/gonbui/protocol"
%%
gonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{"application/x-clear-output": ""}})
gonbui.Sync()"""

PNG = """%%
var b bytes.Buffer
must.M(png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 4))))
gonbui.DisplayPNG(b.Bytes())
gonbui.Sync()"""


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
    ]
    code_execute_result = [{"code": "6 * 7", "result": "42"}, {"code": 'x := "a"\nx + "b"', "result": '"ab"'}]
    complete_code_samples = ["%%\nfmt.Println(1)", "x := 1", "func f() {}", "%%bash\nls (", "!ls", "%%\ns := `a\nb`"]
    incomplete_code_samples = ["%%\nfor {", "func f() {", "%%\nf(1,", "%%\ns := `a", "!ls \\"]
    invalid_code_samples = ["func f() {}\nx := 1", "%%\n)", "%%\nx = = 1\ny()", "func f() {}}"]
    supported_history_operations = ("tail", "range", "search")
    code_history_pattern = "*history?one*"

    def test_history(self):
        # The suite's test of history uses the cells for execute_result. These need no compiler.
        self.code_execute_result = [
            {"code": "!: history-one"},
            {"code": "!: history-two"},
        ]
        super().test_history()

    def test_pager(self):
        self.skipTest("Go has no `?name` that would fill a pager; inspection shows the same")


class Welcome(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = KERNEL
    support_iopub_welcome = True


if __name__ == "__main__":
    unittest.main(verbosity=2)
