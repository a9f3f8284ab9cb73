package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"
)

// TestProgramIsKept compiles a program of a module, and of a local module that it requires.
func TestProgramIsKept(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	g, err := findGo(t.Context())
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	for _, sub := range []string{"a/say", "b"} {
		must.M(os.MkdirAll(filepath.Join(dir, sub), 0o755))
	}
	write(t, filepath.Join(dir, "a", "go.mod"), "module example.org/a\ngo 1.26\nrequire example.org/b v0.0.0\n"+
		"replace example.org/b => ../b\n")
	write(t, filepath.Join(dir, "a", "say", "main.go"),
		"package main\nimport \"example.org/b\"\nfunc main() { print(b.Text) }\n")
	write(t, filepath.Join(dir, "b", "go.mod"), "module example.org/b\ngo 1.26\n")
	source := filepath.Join(dir, "b", "b.go")
	write(t, source, "package b\nconst Text = `one`\n")
	s := store(t.TempDir())
	says := func(want string) string {
		t.Helper()
		program := must.M1(s.program(t.Context(), g, filepath.Join(dir, "a"), "example.org/a/say"))
		if out, err := exec.Command(program).CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("the program says %q, %v; want %q", out, err, want)
		}
		return program
	}
	modified := func(file string) time.Time {
		t.Helper()
		info := must.M1(os.Stat(file))
		return info.ModTime()
	}

	first := says("one")
	if !strings.HasPrefix(first, string(s)) {
		t.Errorf("the program is not in the store: %s", first)
	}
	made := modified(first)
	if again := says("one"); again != first || !modified(again).Equal(made) {
		t.Error("the program was compiled again from the same sources")
	}
	write(t, source, "package b\nconst Text = `two`\n")
	if second := says("two"); second == first {
		t.Error("other sources give the same program")
	}
	write(t, source, "package b\nconst Text = `one`\n")
	if again := says("one"); again != first || !modified(again).Equal(made) {
		t.Error("the program was compiled again after its earlier sources came back")
	}

	for _, text := range []string{"three", "four"} {
		write(t, source, "package b\nconst Text = `"+text+"`\n")
		says(text)
	}
	if all, err := filepath.Glob(s.path("command-*")); err != nil || len(all) != keptPrograms {
		t.Errorf("the store has %q, %v; want the latest %d", all, err, keptPrograms)
	}

	t.Setenv("TMPDIR", t.TempDir())
	whole := s
	s = store(source) // no folder can be made here
	if program := says("four"); filepath.Dir(program) != os.TempDir() {
		t.Errorf("read-only store: got the program %s", program)
	}
	s = whole

	write(t, source, "package b\nconst Text = 1 + \n")
	if program, err := s.program(t.Context(), g, filepath.Join(dir, "a"), "example.org/a/say"); err == nil {
		t.Errorf("sources that do not compile: got the program %s", program)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.program(ctx, g, filepath.Join(dir, "a"), "example.org/a/say"); err == nil {
		t.Error("after an interrupt: got no error")
	}
}
