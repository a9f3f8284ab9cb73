package build

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/astutil"

	"github.com/hypermodels/hypermodels/kernels/layer/cells"
)

// RunImports replaces goimports when GoNB runs it on the program of a cell. The first argument is the kernel's folder;
// the other arguments are the arguments of goimports. RunImports returns the exit status. goimports needs a quarter of
// a second, for every cell again, to find a package outside the standard library. RunImports adds the packages that
// goimports has found before, and goimports does the rest.
func RunImports(argv []string) int {
	if len(argv) < 1 {
		return 2
	}
	if _, err := readProgram(argv[0]); err == nil {
		return 0 // GoNB's program is not compiled.
	}
	return runImports(argv[0], argv[1:])
}

func runImports(dir string, argv []string) int {
	var known *knownImports
	if len(argv) == 2 && argv[0] == "-w" {
		known = readImports(dir)
		known.add(argv[1])
	}
	real, err := realGoimports(ScriptDir(dir))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	cmd := exec.Command(real, argv...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if err == nil && known != nil {
		known.learn(argv[1])
	}
	if cmd.ProcessState != nil {
		return cmd.ProcessState.ExitCode()
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// realGoimports returns the path of the first goimports in PATH outside the folder of scripts.
func realGoimports(shims string) (string, error) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if dir == shims {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, "goimports")); err == nil {
			return found, nil
		}
	}
	return "", errors.New("goimports is not installed: run `go run ./kernels setup`")
}

// knownImports holds the packages that goimports has found for the cells of a kernel.
type knownImports struct {
	file    string
	missing map[string][]string // names of packages that the program lacks, and the identifiers that it uses of each
	Found   map[string]found    // by name
}

// found is a package that goimports has found for a name.
type found struct {
	Path string
	Uses []string // identifiers that programs used of it; another identifier may mean another package
}

func readImports(dir string) *knownImports {
	k := &knownImports{file: filepath.Join(dir, "imports.json")}
	if text, err := os.ReadFile(k.file); err != nil || json.Unmarshal(text, k) != nil || k.Found == nil {
		k.Found = map[string]found{}
	}
	return k
}

// add adds known imports to a program. It does not change a program that cannot be parsed.
func (k *knownImports) add(program string) {
	text, err := os.ReadFile(program)
	if err != nil {
		return
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, program, text, parser.ParseComments)
	if err != nil {
		return
	}
	k.missing = missingPackages(file)
	added := false
	for name, uses := range k.missing {
		f, ok := k.Found[name]
		if ok && len(slices.DeleteFunc(slices.Clone(uses), func(u string) bool { return slices.Contains(f.Uses, u) })) == 0 {
			astutil.AddImport(files, file, f.Path)
			added = true
		}
	}
	if !added {
		return
	}
	var out bytes.Buffer
	if format.Node(&out, files, file) == nil {
		os.WriteFile(program, out.Bytes(), 0o600)
	}
}

// missingPackages returns the names that a program uses like packages and does not declare, each with the identifiers
// that the program uses of it.
func missingPackages(file *ast.File) map[string][]string {
	unresolved := map[*ast.Ident]bool{}
	for _, id := range file.Unresolved {
		unresolved[id] = true
	}
	all := map[string]map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if id, ok := s.X.(*ast.Ident); ok && unresolved[id] {
			if all[id.Name] == nil {
				all[id.Name] = map[string]bool{}
			}
			all[id.Name][s.Sel.Name] = true
		}
		return true
	})
	for _, i := range file.Imports {
		delete(all, cells.ImportName(i))
	}
	names := map[string][]string{}
	for name, uses := range all {
		names[name] = slices.Sorted(maps.Keys(uses))
	}
	return names
}

// learn stores the packages that goimports has found for missing names. It skips the standard library, which goimports
// finds at once.
func (k *knownImports) learn(program string) {
	file, err := parser.ParseFile(token.NewFileSet(), program, nil, parser.ImportsOnly)
	if err != nil {
		return
	}
	learned := false
	for _, i := range file.Imports {
		name, path := cells.ImportName(i), strings.Trim(i.Path.Value, `"`)
		uses, ok := k.missing[name]
		if host, _, _ := strings.Cut(path, "/"); !ok || i.Name != nil || !strings.Contains(host, ".") {
			continue
		}
		f := k.Found[name]
		if f.Path != path {
			f = found{Path: path}
		}
		both := slices.Concat(f.Uses, uses)
		slices.Sort(both)
		if both = slices.Compact(both); len(both) > len(f.Uses) {
			k.Found[name], learned = found{path, both}, true
		}
	}
	if !learned {
		return
	}
	tmp := k.file + ".new"
	if writeJSON(tmp, k) == nil {
		os.Rename(tmp, k.file)
	}
}
