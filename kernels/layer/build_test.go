package layer

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/kernels/internal/testprogram"
)

const builtProgram = `package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"example.com/near"
)

func main() {
	_, file, line, _ := runtime.Caller(0)
	info, _ := debug.ReadBuildInfo()
	fmt.Println(near.Word, file, line, info, "CELL")
}
`

// workshop is a folder like GoNB's folder of a cell, next to a module that the test may change.
type workshop struct {
	t             *testing.T
	program       string // with the verbs
	dir, out      string
	near, calls   string // the module's folder, and the record of the calls of the Go command
	plans         string
	stdout, wrong string // of the latest build
}

func newCell(t *testing.T) *workshop {
	root := must.M1(filepath.EvalSymlinks(t.TempDir()))
	c := &workshop{t: t, program: testprogram.Build(t), dir: root + "/gonb_1", near: root + "/near", calls: root + "/calls",
		plans: root + "/plans"}
	c.out = c.dir + "/gonb_1"
	must.M(os.Mkdir(c.dir, 0o700))
	must.M(os.Mkdir(c.near, 0o700))
	c.write(c.dir+"/go.mod", "module gonb_1\n\ngo 1.26\n")
	c.write(c.dir+"/go.work", "go 1.26\n\nuse (\n\t.\n\t"+c.near+"\n)\n")
	c.write(c.near+"/go.mod", "module example.com/near\n\ngo 1.26\n")
	c.write(c.near+"/near.go", "package near\n\nconst Word = \"first\"\n")
	recorder := root + "/go"
	c.write(recorder, "#!/bin/sh\necho \"$1\" >>"+c.calls+"\nexec "+must.M1(exec.LookPath("go"))+" \"$@\"\n")
	must.M(os.Chmod(recorder, 0o700))
	t.Setenv("HYPERMODELS_GO", recorder)
	t.Setenv("GOFLAGS", "-buildvcs=false")
	t.Setenv("GOWORK", "")
	return c
}

func (c *workshop) write(file, text string) {
	c.t.Helper()
	must.M(os.WriteFile(file, []byte(text), 0o600))
}

// build compiles a program and runs the result. It reports whether the Go command was called.
func (c *workshop) build(text string) bool {
	c.t.Helper()
	os.Remove(c.calls)
	c.write(c.dir+"/main.go", text)
	cmd := exec.Command(c.program, BuildVerb, c.plans, "build", "-o", c.out)
	cmd.Dir = c.dir
	said, err := cmd.CombinedOutput()
	c.stdout, c.wrong = "", string(said)
	if err == nil {
		c.stdout = string(must.M1(exec.Command(c.out + ".cell").Output()))
	}
	_, err = os.Stat(c.calls)
	return err == nil
}

func TestBuildByPlan(t *testing.T) {
	c := newCell(t)
	program := func(cell string) string { return strings.ReplaceAll(builtProgram, "CELL", cell) }
	if !c.build(program("one")) || !strings.Contains(c.stdout, "first "+c.dir+"/main.go 12 ") {
		t.Fatalf("the first cell printed %q: %s", c.stdout, c.wrong)
	}
	byGo := c.stdout
	c.build(program("zero")) // This compiles the module, which is in Go's cache from now on.
	if c.build(program("two")) {
		t.Error("a cell with other code, but the same imports, used the Go command")
	}
	if want := strings.ReplaceAll(byGo, "one", "two"); c.stdout != want {
		t.Errorf("got %q, want %q", c.stdout, want)
	}

	c.write(c.near+"/near.go", "package near\n\nconst Word = \"other\"\n")
	if c.build(program("three")); !strings.HasPrefix(c.stdout, "other ") {
		t.Errorf("after a change of the module: got output %q", c.stdout)
	}
	c.build(program("four"))
	if c.build(program("five")) {
		t.Error("the plan was not used after a change of the module")
	}
	c.write(c.near+"/more.go", "package near\n\nfunc init() { println(\"more\") }\n")
	if !c.build(program("five")) {
		t.Error("the build used the plan despite a new file")
	}
	os.Remove(c.near + "/more.go")
	for _, cell := range []string{"six", "6"} {
		c.build(program(cell))
	}
	t.Setenv("GOFLAGS", "-buildvcs=false -tags=other")
	if !c.build(program("six")) {
		t.Error("the build used the plan despite other settings")
	}

	for _, cell := range []string{"seven", "7"} {
		c.build(program(cell))
	}
	c.build(strings.Replace(program("eight"), "near.Word", "near.Nothing", 1))
	if want := "# gonb_1\n./main.go:14:19: undefined: near.Nothing\n"; c.wrong != want {
		t.Errorf("a cell that does not compile says %q, want %q", c.wrong, want)
	}
	if c.build(program("nine")); !strings.Contains(c.stdout, "nine") {
		t.Errorf("the next program printed %q: %s", c.stdout, c.wrong)
	}

	for _, special := range []string{"import _ \"embed\"\n\n//go:embed go.mod\nvar text string\n", "import \"C\"\n"} {
		for _, cell := range []string{"eleven", "twelve", "thirteen"} {
			asked := c.build(strings.Replace(program(cell), "\nfunc main", special+"\nfunc main", 1))
			if strings.Contains(special, "embed") && c.stdout == "" {
				t.Errorf("cell with %q: got no output: %s", special, c.wrong)
			}
			if !asked {
				t.Errorf("a program with %q used the plan, want the Go command", special)
			}
		}
	}
}

// A plan is invalid if its files are no longer in Go's cache.
func TestPlanWithoutItsFiles(t *testing.T) {
	c := newCell(t)
	cache := t.TempDir()
	t.Setenv("GOCACHE", cache)
	program := func(cell string) string { return strings.ReplaceAll(builtProgram, "CELL", cell) }
	c.build(program("one"))
	c.build(program("two"))
	if c.build(program("three")) {
		t.Fatal("the build did not use a plan")
	}
	must.M(filepath.WalkDir(cache, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "-d") {
			return os.Remove(path)
		}
		return err
	}))
	if !c.build(program("four")) || c.stdout == "" {
		t.Errorf("got output %q: %s", c.stdout, c.wrong)
	}
}

func TestImportsAreRemembered(t *testing.T) {
	dir := must.M1(filepath.EvalSymlinks(t.TempDir()))
	plans, tools, file := dir+"/plans", dir+"/tools", dir+"/main.go"
	must.M(os.Mkdir(tools, 0o700))
	// This goimports knows one package, and reports when it had to search for the package.
	must.M(os.WriteFile(tools+"/goimports", []byte(`#!/bin/sh
grep -q example.com "$2" && exit 0
echo looked
sed -i 's/^package main$/package main; import "example.com\/far\/v2"/' "$2"
`), 0o700))
	t.Setenv("PATH", ShimDir(dir)+":"+tools+":"+os.Getenv("PATH"))
	program := testprogram.Build(t)
	run := func(body string) (string, string) {
		t.Helper()
		must.M(os.WriteFile(file, []byte("package main\n\nfunc main() {\n\t"+body+"\n}\n"), 0o600))
		out := must.M1(exec.Command(program, ImportVerb, plans, "-w", file).CombinedOutput())
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
	if out, err := exec.Command(program, ImportVerb, plans, "-w", file).CombinedOutput(); err != nil {
		t.Errorf("program that does not parse: got error %v, %s", err, out)
	}
}
