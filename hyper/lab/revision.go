package lab

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

const modulePath = "github.com/hypermodels/hypermodels"

// archived is a commit if git exported the sources or an image was made from them. In a checkout it is a placeholder.
//
//go:embed revision.txt
var archived string

// revision returns the revision of this module's sources from which the program was built, and whether the sources had
// changes that are in no commit. It uses the first of these sources of information that has an answer: what Go wrote
// into the program; the version at which another module requires this one; revision.txt; the checkout that holds the
// sources, if no source is newer than the program. Otherwise the name is "unknown". certain is true if the program
// itself contains the answer, so that later changes of the sources do not matter.
func revision() (name string, modified, certain bool) {
	if info, ok := debug.ReadBuildInfo(); ok {
		if name, modified = stamped(info); name != "" {
			return name, modified, true
		}
	}
	if commit := strings.TrimSpace(archived); isCommit(commit) {
		return commit, false, true
	}
	if root := sources(); root != "" {
		if name, modified = checkedOut(root); name != "" {
			return name, modified, false
		}
	}
	return unknown, false, false
}

// sources returns the folder of this module from which the program was compiled. It returns "" if the folder is gone or
// may have changed.
var sources = sync.OnceValue(func() string {
	_, file, _, _ := runtime.Caller(0) // ROOT/hyper/lab/revision.go
	root := filepath.Dir(filepath.Dir(filepath.Dir(file)))
	if program, err := os.Executable(); err != nil || !isFresh(root, program) {
		return ""
	}
	return root
})

// required returns the version of a dependency, with the path of its replacement if it has one. It reads what Go wrote
// into the program, which is nothing in tests, and otherwise the go.mod of the sources. It returns "unknown" if neither
// has the answer.
func required(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if at := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == path }); at >= 0 {
			return version(info.Deps[at])
		}
	}
	if root := sources(); root != "" {
		text, _ := os.ReadFile(filepath.Join(root, "go.mod"))
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
			if len(words) > 1 && words[0] == path {
				return words[1]
			}
		}
	}
	return unknown
}

// version returns the version of a module, with the path of its replacement if it has one.
func version(m *debug.Module) string {
	if m.Replace != nil {
		return m.Replace.Path + "@" + m.Replace.Version
	}
	return m.Version
}

// stamped returns the revision that Go wrote into a program, or "". The commit that Go records belongs to the program's
// main module.
func stamped(info *debug.BuildInfo) (name string, modified bool) {
	if info.Main.Path == modulePath {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				name = s.Value
			case "vcs.modified":
				modified = s.Value == "true"
			}
		}
		if name == "" {
			name = released(&info.Main)
		}
		return name, modified
	}
	at := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == modulePath })
	if at < 0 {
		return "", false
	}
	return released(info.Deps[at]), false
}

// released returns the version of a module that came from a release, or "" for a module in a folder.
func released(m *debug.Module) string {
	switch {
	case m.Replace != nil && strings.HasPrefix(m.Replace.Version, "v"):
		return version(m)
	case m.Replace == nil && strings.HasPrefix(m.Version, "v"):
		return m.Version
	}
	return ""
}

// isCommit reports whether a text is the hash of a commit and not a placeholder.
func isCommit(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) >= 20
}

// ProgramHash returns the hash of the program's file, or "" if the file cannot be read.
func ProgramHash() string {
	f, err := os.Open("/proc/self/exe") // works even if the file was replaced in the meantime
	if err != nil {
		path, _ := os.Executable() // "" if the system does not know it
		f, err = os.Open(path)
	}
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
