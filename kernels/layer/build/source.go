package build

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hypermodels/hypermodels/kernels/layer/cells"
)

// FindImports uses goimports to find the imports of a program. If a well-known package lacks a name that the program
// uses, goimports does not import the package. FindImports does, so that the compiler's error is about the name.
func (b builder) FindImports(text string) ([]string, error) {
	if err := os.WriteFile(b.source, []byte(text), 0o600); err != nil {
		return nil, err
	}
	if code := runImports(b.kernel, []string{"-w", b.source}); code != 0 {
		return nil, fmt.Errorf("goimports ends with status %d", code)
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), b.source, nil, 0)
	if err != nil {
		return nil, err
	}
	specs, known := cells.ImportsOf(parsed), cells.KnownPackages()
	for name := range missingPackages(parsed) {
		if spec := known[name]; spec != "" {
			specs = append(specs, spec)
		}
	}
	return specs, nil
}

// embedded matches go:embed directives.
var embedded = regexp.MustCompile(`(?m)^//go:embed[ \t]+(.+)$`)

// embed copies the files that a program embeds from the notebook's folder to the program's folder. undo removes the
// copies.
func (b builder) embed(text, from string) (undo func(), err error) {
	var put []string
	undo = func() {
		for _, name := range put {
			os.RemoveAll(name)
		}
	}
	for _, m := range embedded.FindAllStringSubmatch(text, -1) {
		for _, pattern := range strings.Fields(m[1]) {
			pattern = strings.TrimPrefix(strings.Trim(pattern, "\"`"), "all:")
			if !filepath.IsLocal(filepath.FromSlash(pattern)) {
				continue // The compiler reports the error.
			}
			names, _ := fs.Glob(os.DirFS(from), pattern)
			for _, name := range names {
				to := filepath.Join(b.dir(), name)
				if _, err := os.Lstat(to); err == nil {
					continue // A file of GoNB, such as go.mod.
				}
				first, _, _ := strings.Cut(name, "/")
				put = append(put, filepath.Join(b.dir(), first))
				if err := copyTree(filepath.Join(from, name), to); err != nil {
					return undo, err
				}
			}
		}
	}
	return undo, nil
}

// copyTree copies a file or a folder.
func copyTree(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if os.Link(from, to) == nil {
		return nil
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}
