package layer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// plan holds the steps by which the Go command compiled a cell's program: its two command lines, and the files that
// they read. While the imports of the program and the files behind them are the same, the same command lines compile
// another cell. The Go command would need 0.15 s to find out.
type plan struct {
	Compile, Link       []string            // command lines
	Packages, Libraries string              // the contents of their -importcfg files
	Root                string              // GOROOT
	Sources             map[string][]source // the files of each folder that may change: the folders of local modules
}

// source is the state of a file when the plan was made.
type source struct {
	Name string
	Size int64
	Time time.Time
}

// planFile returns the name of the plan's file. The name depends on everything that the plan depends on, except
// sources. It returns "" if there can be no plan, because the program has more than one Go file or has compiler
// directives.
func (b builder) planFile(text []byte) string {
	if bytes.Contains(text, []byte("//go:")) || bytes.Contains(text, []byte("// +build")) {
		return ""
	}
	h := sha256.New()
	list, err := os.ReadDir(b.dir())
	if err != nil {
		return ""
	}
	for _, e := range list {
		switch filepath.Ext(e.Name()) {
		case ".mod", ".work", ".sum":
			pins, err := os.ReadFile(filepath.Join(b.dir(), e.Name()))
			if err != nil {
				return ""
			}
			fmt.Fprintf(h, "%s %d %s\n", e.Name(), len(pins), pins)
		case ".go":
			if e.Name() != "main.go" {
				return ""
			}
		case ".s", ".S", ".c", ".h", ".cc", ".cpp", ".cxx", ".m", ".f", ".syso", ".swig", ".pgo":
			return ""
		}
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
	if err != nil {
		return ""
	}
	var imports []string
	for _, s := range file.Imports {
		if s.Path.Value == `"C"` {
			return ""
		}
		imports = append(imports, s.Path.Value)
	}
	slices.Sort(imports)
	settings := slices.DeleteFunc(os.Environ(), func(s string) bool {
		return strings.HasPrefix(s, "GONB_") || !strings.HasPrefix(s, "GO") && !strings.HasPrefix(s, "CGO_") &&
			!strings.HasPrefix(s, "CC=") &&
			!strings.HasPrefix(s, "HYPERMODELS_GO=")
	})
	slices.Sort(settings)
	fmt.Fprintf(h, "%q\n%q\n%q", b.dir(), slices.Compact(imports), settings)
	return filepath.Join(b.plans, hex.EncodeToString(h.Sum(nil))+".json")
}

func readPlan(file string) (*plan, error) {
	if file == "" {
		return nil, errors.New("no plan")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	p := new(plan)
	if err := json.Unmarshal(text, p); err != nil {
		return nil, err
	}
	for folder, was := range p.Sources {
		if is, err := filesOf(folder); err != nil || !slices.EqualFunc(is, was, source.same) {
			return nil, errors.New("a file has changed")
		}
	}
	return p, nil
}

func (a source) same(b source) bool {
	return a.Name == b.Name && a.Size == b.Size && a.Time.Equal(b.Time)
}

// filesOf returns the files of a folder, ordered by name.
func filesOf(folder string) ([]source, error) {
	list, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var all []source
	for _, e := range list {
		if e.IsDir() {
			continue
		}
		info, err := os.Stat(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, source{e.Name(), info.Size(), info.ModTime()})
	}
	return all, nil
}

// carryOut compiles and links with the plan's command lines.
func (p *plan) carryOut(dir, out string) error {
	tmp, err := os.MkdirTemp(dir, "build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	object, packages, libraries := filepath.Join(tmp, "main.a"), filepath.Join(tmp, "packages"),
		filepath.Join(tmp, "libraries")
	was := p.Link[len(p.Link)-1] // The package of the program.
	if err := errors.Join(os.WriteFile(packages, []byte(p.Packages), 0o600),
		os.WriteFile(libraries, []byte(strings.ReplaceAll(p.Libraries, "="+was+"\n", "="+object+"\n")), 0o600)); err != nil {
		return err
	}
	link := with(p.Link, map[string]string{"-o": filepath.Join(tmp, "out"), "-importcfg": libraries})
	link[len(link)-1] = object
	for _, argv := range [][]string{with(p.Compile, map[string]string{"-o": object, "-importcfg": packages}), link} {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOROOT="+p.Root)
		if err := cmd.Run(); err != nil {
			return err
		}
	}
	return os.Rename(filepath.Join(tmp, "out"), out)
}

// with returns a command line with new values for some flags.
func with(argv []string, values map[string]string) []string {
	out := slices.Clone(argv)
	for i := range out[:len(out)-1] {
		if v, ok := values[out[i]]; ok {
			out[i+1] = v
		}
	}
	return out
}

// planning is a plan that is made while the Go command runs.
type planning struct {
	plan plan
	file string // file of the plan
	dir  string // folder where RunTool writes the command lines
}

// beginPlan lists the source files before they are compiled. If one of them changes later, the plan is invalid.
func (b builder) beginPlan(text []byte) *planning {
	file := b.planFile(text)
	if file == "" || strings.ContainsAny(b.program+b.plans, `'"`) {
		return nil
	}
	if err := os.MkdirAll(b.plans, 0o700); err != nil {
		return nil
	}
	out, err := goCommand(b.dir(), "list", "-deps", "-e", "-json=ImportPath,Dir,Standard,Module,EmbedFiles", ".").Output()
	if err != nil {
		return nil
	}
	m := &planning{file: file, plan: plan{Sources: map[string][]source{}}}
	if err := m.note(out); err != nil {
		return nil
	}
	if m.dir, err = os.MkdirTemp(b.plans, "tool-"); err != nil {
		return nil
	}
	return m
}

// note reads the output of `go list` about the packages.
func (m *planning) note(list []byte) error {
	folders := map[string]bool{}
	for d := json.NewDecoder(bytes.NewReader(list)); d.More(); {
		var p struct {
			ImportPath, Dir string
			Standard        bool
			EmbedFiles      []string
			Module          *struct {
				GoMod, Version string
				Main           bool
				Replace        *struct{ Version string }
			}
		}
		if err := d.Decode(&p); err != nil {
			return err
		}
		if p.Standard || p.Module == nil || strings.HasPrefix(path.Base(p.ImportPath), "gonb_") {
			continue
		}
		if r := p.Module.Replace; !p.Module.Main && (r == nil || r.Version != "") {
			continue // It is in the module cache, where nothing changes.
		}
		folders[p.Dir], folders[filepath.Dir(p.Module.GoMod)] = true, true
		for _, file := range p.EmbedFiles {
			folders[filepath.Dir(filepath.Join(p.Dir, file))] = true
		}
	}
	for folder := range folders {
		all, err := filesOf(folder)
		if err != nil {
			return err
		}
		m.plan.Sources[folder] = all
	}
	return nil
}

// toolexec returns the value of the flag -toolexec that makes the Go command run every tool by [RunTool].
func (m *planning) toolexec(program string) string {
	return fmt.Sprintf("'%s' %s '%s'", program, ToolVerb, m.dir)
}

// seen is a tool's command line, and the content of the file of its flag -importcfg.
type seen struct {
	Argv   []string
	Config string
	Root   string
}

// RunTool runs one of Go's tools for the Go command, and returns its exit status. The first argument is a folder, where
// RunTool writes how the program of a cell was compiled and linked.
func RunTool(argv []string) int {
	if len(argv) < 2 {
		return 2
	}
	dir, argv := argv[0], argv[1:]
	tool := filepath.Base(argv[0])
	if at := slices.Index(argv, "-importcfg"); at > 0 && (tool == "link" || tool == "compile" && isMain(argv)) {
		if config, err := os.ReadFile(argv[at+1]); err == nil {
			os.WriteFile(filepath.Join(dir, tool), mustJSON(seen{argv, string(config), os.Getenv("GOROOT")}), 0o600)
		}
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if cmd.ProcessState != nil {
		return cmd.ProcessState.ExitCode()
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// isMain reports whether the compiler compiles the package of a program.
func isMain(argv []string) bool {
	at := slices.Index(argv, "-p")
	return at > 0 && argv[at+1] == "main"
}

// end writes the plan if it can be used again: the program is a single file, and all other inputs are in Go's cache.
func (m *planning) end(built bool) {
	defer os.RemoveAll(m.dir)
	var compile, link seen
	for name, s := range map[string]*seen{"compile": &compile, "link": &link} {
		text, err := os.ReadFile(filepath.Join(m.dir, name))
		if err != nil || json.Unmarshal(text, s) != nil {
			return
		}
	}
	if n := len(compile.Argv); !built || compile.Argv[n-2] != "-pack" || slices.ContainsFunc(compile.Argv, isExtra) {
		return
	}
	object := link.Argv[len(link.Argv)-1]
	work := filepath.Dir(filepath.Dir(object)) + string(filepath.Separator)
	if others := strings.ReplaceAll(link.Config, "="+object+"\n", ""); strings.Contains(others, work) ||
		strings.Contains(compile.Config, work) || others == link.Config {
		return
	}
	m.plan.Compile, m.plan.Packages = compile.Argv, compile.Config
	m.plan.Link, m.plan.Libraries, m.plan.Root = link.Argv, link.Config, compile.Root
	tmp := m.file + ".new"
	if os.WriteFile(tmp, mustJSON(m.plan), 0o600) == nil {
		os.Rename(tmp, m.file)
	}
}

// isExtra reports whether a flag names one more input file of the Go command.
func isExtra(arg string) bool {
	return isOneOf(arg, []string{"-embedcfg", "-symabis", "-asmhdr", "-pgoprofile", "-coveragecfg"})
}
