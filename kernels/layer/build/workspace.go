package build

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hypermodels/hypermodels/kernels/layer/cells"
)

var (
	moduleLine = regexp.MustCompile(`(?m)^module[ \t]+"?([^\s"]+)"?`)
	useBlock   = regexp.MustCompile(`(?m)^use \(\n`)
	joined     = regexp.MustCompile(`(?m)^\t.* // the notebook's\n`)
)

// usesPlain reports whether a workspace uses a folder whose name needs no quotes.
func usesPlain(work []byte, folder string) bool {
	for line := range bytes.Lines(work) {
		if string(bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("use ")))) == folder {
			return true
		}
	}
	return false
}

// join lets a program import the packages of the module that contains the notebook, including internal packages. It
// adds the module to the program's workspace, and makes the program a package of the module. A program that imports
// none of these packages does not change, because the module may require other versions of the modules that cells use.
func (b builder) join(p cells.Program, from string) error {
	folder, path := moduleOf(from)
	modFile, workFile := filepath.Join(b.dir(), "go.mod"), filepath.Join(b.dir(), "go.work")
	mod, err := os.ReadFile(modFile)
	if err != nil {
		return nil // GoNB has not written it.
	}
	work, err := os.ReadFile(workFile)
	if err != nil {
		return nil
	}
	name := filepath.Base(b.dir())
	wanted := folder != "" && slices.ContainsFunc(p.Decls, func(d cells.Decl) bool {
		return strings.Contains(d.Spec, `"`+path+"/") || strings.HasSuffix(d.Spec, `"`+path+`"`)
	})
	newWork := joined.ReplaceAll(work, nil)
	if wanted {
		name = path + "/" + name
		if quoted := strconv.Quote(folder); !bytes.Contains(newWork, []byte(quoted)) && !usesPlain(newWork, folder) {
			newWork = useBlock.ReplaceAllLiteral(newWork, []byte("use (\n\t"+quoted+" // the notebook's\n"))
		}
	}
	newMod := moduleLine.ReplaceAllLiteral(mod, []byte("module "+name))
	if bytes.Equal(newWork, work) && bytes.Equal(newMod, mod) {
		return nil
	}
	if err := os.WriteFile(workFile, newWork, 0o600); err != nil {
		return err
	}
	return os.WriteFile(modFile, newMod, 0o600)
}

// moduleOf returns the module that contains a folder: the folder of its go.mod, and its path.
func moduleOf(from string) (folder, path string) {
	if from == "" {
		return "", ""
	}
	for dir := filepath.Clean(from); ; dir = filepath.Dir(dir) {
		if text, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
			if m := moduleLine.FindSubmatch(text); m != nil {
				return dir, string(m[1])
			}
			return "", ""
		}
		if dir == filepath.Dir(dir) {
			return "", ""
		}
	}
}
