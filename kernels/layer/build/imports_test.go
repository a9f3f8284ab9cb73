package build

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/kernels/internal/testprogram"
)

func TestImportsAreRemembered(t *testing.T) {
	dir := must.M1(filepath.EvalSymlinks(t.TempDir()))
	tools, file := dir+"/tools", dir+"/main.go"
	must.M(os.Mkdir(tools, 0o700))
	// This goimports knows one package, and reports when it had to search for the package.
	must.M(os.WriteFile(tools+"/goimports", []byte(`#!/bin/sh
grep -q example.com "$2" && exit 0
echo looked
sed -i 's/^package main$/package main; import "example.com\/far\/v2"/' "$2"
`), 0o700))
	t.Setenv("PATH", ScriptDir(dir)+":"+tools+":"+os.Getenv("PATH"))
	program := testprogram.Build(t)
	run := func(body string) (string, string) {
		t.Helper()
		must.M(os.WriteFile(file, []byte("package main\n\nfunc main() {\n\t"+body+"\n}\n"), 0o600))
		out := must.M1(exec.Command(program, ImportsVerb, dir, "-w", file).CombinedOutput())
		return string(out), string(must.M1(os.ReadFile(file)))
	}
	for _, c := range []struct{ body, said string }{
		{"far.A()", "looked\n"},
		{"far.A()", ""},
		{"_ = far.A\n\tfar.A()", ""},
		{"far.A()\n\tfar.B()", "looked\n"}, // Another package named far may have B.
		{"far.B()", ""},
		{"far := struct{ A int }{}\n\t_ = far.A", "looked\n"}, // far is not a package.
		{"near.A()", "looked\n"},
	} {
		said, text := run(c.body)
		if said != c.said || !strings.Contains(text, `"example.com/far/v2"`) {
			t.Errorf("%q: the build said %q, source\n%s", c.body, said, text)
		}
	}
	must.M(os.WriteFile(file, []byte("package main\n\nfunc {"), 0o600))
	if out, err := exec.Command(program, ImportsVerb, dir, "-w", file).CombinedOutput(); err != nil {
		t.Errorf("program that does not parse: got error %v, %s", err, out)
	}
}
