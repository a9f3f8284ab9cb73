package layer

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	moduleLine = regexp.MustCompile(`(?m)^module[ \t]+"?([^\s"]+)"?`)
	useBlock   = regexp.MustCompile(`(?m)^use \(\n`)
)

// join lets a program import the packages of the module that the notebook lies in, internal ones too: the module is
// used by the program's workspace, and the program becomes a package of it. A program that imports nothing of it stays
// as it is, since the module may want other versions of what cells use.
func (b builder) join(p program, from string) error {
	folder, path := moduleOf(from)
	modFile, workFile := filepath.Join(b.dir(), "go.mod"), filepath.Join(b.dir(), "go.work")
	mod, err := os.ReadFile(modFile)
	if err != nil {
		return nil // GoNB has made none.
	}
	work, err := os.ReadFile(workFile)
	if err != nil {
		return nil
	}
	name := filepath.Base(b.dir())
	line := "\t" + folder + " // the notebook's\n"
	wanted := folder != "" && slices.ContainsFunc(p.Decls, func(d decl) bool {
		spec := importSpec(d.Text)
		return d.Import && strings.Contains(spec, `"`+path+"/") || strings.HasSuffix(spec, `"`+path+`"`)
	})
	newWork := regexp.MustCompile(`(?m)^\t.* // the notebook's\n`).ReplaceAll(work, nil)
	if wanted && !bytes.Contains(newWork, []byte("\t"+folder+"\n")) {
		newWork = useBlock.ReplaceAll(newWork, []byte("use (\n"+line))
	}
	if wanted {
		name = path + "/" + name
	}
	newMod := moduleLine.ReplaceAll(mod, []byte("module "+name))
	if bytes.Equal(newWork, work) && bytes.Equal(newMod, mod) {
		return nil
	}
	if err := os.WriteFile(workFile, newWork, 0o600); err != nil {
		return err
	}
	return os.WriteFile(modFile, newMod, 0o600)
}

// moduleOf is the module that a folder lies in: the folder of its go.mod, and its path.
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
