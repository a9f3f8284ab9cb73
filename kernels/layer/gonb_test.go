package layer

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/kernels/internal/testprogram"
	"github.com/hypermodels/hypermodels/kernels/layer/build"
	"github.com/hypermodels/hypermodels/kernels/layer/cells"
	"github.com/hypermodels/hypermodels/kernels/layer/wrapper"
)

// said holds the messages that GoNB sends for a cell.
type said struct {
	stderr string
	faults []fault
}

// leaveProgram writes the program of a cell, as a kernel does.
func (c Config) leaveProgram(code string) error {
	parsed, _ := cells.Parse(code)
	p, _ := new(cells.Memory).Program(parsed, 1, "")
	return build.Submit(c.Dir, &p)
}

// TestGoNB compares what the kernel knows about GoNB to the version of GoNB that kernels/tools.mod pins. Each failure
// names the part to change.
func TestGoNB(t *testing.T) {
	t.Parallel()
	program := testprogram.Build(t)
	if pins := string(must.M1(os.ReadFile("../tools.mod"))); !strings.Contains(pins, "janpfeifer/gonb v"+GoNBVersion+" ") {
		t.Errorf("tools.mod pins another GoNB than %s: change GoNBVersion when this test passes", GoNBVersion)
	}
	dir := must.M1(os.MkdirTemp("", "layer-")) // Its path is short enough for sockets.
	defer os.RemoveAll(dir)
	install := exec.CommandContext(t.Context(), "go", "build", "-modfile=kernels/tools.mod", "-o", dir+"/tools/",
		"github.com/janpfeifer/gonb", "golang.org/x/tools/cmd/goimports")
	install.Dir, install.Env = "../..", append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("cannot build: %v\n%s", err, out)
	}
	// A script named go that records its arguments.
	record, recorder := dir+"/record", dir+"/recorder"
	must.M(os.WriteFile(recorder, fmt.Appendf(nil, "#!/bin/sh\necho \"$*\" >>%s\nexec %s \"$@\"\n", record,
		must.M1(exec.LookPath("go"))), 0o700))
	c := Config{Connection: "kernel.json", Dir: dir, Program: program, Start: dir,
		Engine: append([]string{dir + "/tools/gonb"}, GoNBArguments(must.M1(filepath.Abs("../..")), dir)...),
		Env: append(os.Environ(), "PATH="+build.ScriptDir(dir)+":"+dir+"/tools:"+os.Getenv("PATH"), "HYPERMODELS_GO="+recorder,
			"GOWORK=",
			"GOFLAGS=-buildvcs=false")}
	must.M(build.WriteScripts(c.Dir, c.Program, goplsOf(c)))
	e, err := startEngine(t.Context(), c, 1)
	if err != nil {
		t.Fatalf("GoNB does not start with GoNBArguments: %v", err)
	}
	defer e.kill()
	replies, outputs := make(chan message, 1), make(chan message, 1000)
	go e.listen(e.shell, func(m message) {
		if m.head.Type == "execute_reply" {
			replies <- m
		}
	})
	go e.listen(e.iopub, func(m message) { e.heard(); outputs <- m })
	if err := e.awaitReady(); err != nil {
		t.Fatalf("GoNB does not answer the probe: %v", err)
	}
	run := func(code string) (s said) {
		t.Helper()
		request := message{}.answer("test", "execute_request", executeRequest{Code: code, Store: true, StopOnError: true})
		must.M(e.shell.send(request))
		limit := time.After(2 * time.Minute)
		for idle, replied := false, false; !idle || !replied; {
			select {
			case <-replies:
				replied = true
			case m := <-outputs:
				if m.parent.ID != request.head.ID {
					continue
				}
				var body struct {
					State string `json:"execution_state"`
					Name  string
					Text  string
				}
				m.read(&body)
				switch m.head.Type {
				case "status":
					idle = body.State == "idle"
				case "stream":
					if body.Name == "stderr" {
						s.stderr += body.Text
					}
				case "error":
					var f fault
					m.read(&f)
					s.faults = append(s.faults, f)
				}
			case <-limit:
				t.Fatalf("the cell did not end\n%s", code)
			}
		}
		return s
	}

	testMagics(t)
	first := run("%%\nprintln(1)\n_, file, line, _ := runtime.Caller(0)\nfmt.Fprintf(os.Stderr, \"%s:%d: here\\n\", file, line)")
	var unmarked wrapper.MarkReader
	if text := unmarked.Add(first.stderr); len(first.faults) > 0 || !strings.Contains(text, "main.go:") {
		t.Errorf("got standard error %q and failures %+v, want a position and none", first.stderr, first.faults)
	}
	if marked := run("%%\nprintln(\"\x1e.\")"); !strings.Contains(marked.stderr, "\x1e.\n") {
		t.Errorf("the mark is missing in the output: %q", marked.stderr)
	}
	must.M(c.leaveProgram("%%\nprintln(7)"))
	if own := run("%%\n_ = 0"); !strings.Contains(own.stderr, "7\n") {
		t.Errorf("GoNB does not run the program that the kernel has left: %+v", own)
	}
	must.M(build.Submit(dir, nil))
	test := run("func TestOne(t *testing.T) {}\n%test")
	if len(test.faults) > 0 || unmarked.Failed != nil {
		t.Errorf("a passing %%test fails: %+v", test)
	}

	lines := strings.Split(strings.TrimSpace(string(must.M1(os.ReadFile(record)))), "\n")
	has := func(what, pattern string) {
		if r := regexp.MustCompile(pattern); !slices.ContainsFunc(lines, r.MatchString) {
			t.Errorf("GoNB does not run %s as build/scripts.go expects it: %q", what, lines)
		}
	}
	has("go build", `^build (?:-toolexec=.* )?-o \S*/(gonb_\w+)/(gonb_\w+)$`)
	has("go test", `^test -c -o \S*/(gonb_\w+)/(gonb_\w+)$`)
	for _, line := range lines {
		if strings.HasPrefix(line, "get") {
			t.Errorf("GoNB runs go %s, which build/scripts.go does not answer", line)
		}
	}
	if left := must.M1(filepath.Glob(e.dir + "/gonb_*/gopls_socket")); len(left) > 0 {
		t.Error("GoNB started its own gopls, although build/scripts.go should prevent it")
	}
	if left := must.M1(filepath.Glob(e.dir + "/gonb_*/gonb_*.cell")); len(left) == 0 {
		t.Error("GoNB writes a cell's program to another place than build/scripts.go expects, so no cell runs behind " +
			"a wrapper")
	}
}

// testMagics compares the names of magics to GoNB's source.
func testMagics(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-modfile=kernels/tools.mod", "-f", "{{.Dir}}",
		"github.com/janpfeifer/gonb/internal/specialcmd")
	list.Dir, list.Env = "../..", append(os.Environ(), "GOWORK=off")
	source := filepath.Join(strings.TrimSpace(string(must.M1(list.Output()))), "specialcmd.go")
	cases := regexp.MustCompile(`(?m)^\tcase ((?:"\w*%?"(?:, )?)+):$`)
	var names []string
	for _, m := range cases.FindAllStringSubmatch(string(must.M1(os.ReadFile(source))), -1) {
		for name := range strings.SplitSeq(m[1], ", ") {
			names = append(names, "%"+strings.Trim(name, `"`))
		}
	}
	slices.Sort(names)
	own := slices.DeleteFunc(slices.Sorted(slices.Values(cells.LineMagics)), func(name string) bool {
		return name == "%"+cells.HyperVerb
	})
	if !slices.Equal(own, names) {
		t.Errorf("GoNB's magics are others than those in cells/magic.go: %q, want %q", own, names)
	}
}
