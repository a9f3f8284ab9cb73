package layer

import (
	"os"
	"path/filepath"
	"strings"
)

// ShimDir is the folder of a kernel that must come first in its engine's PATH: it holds a `go` of its own.
func ShimDir(dir string) string { return filepath.Join(dir, "bin") }

// writeShim puts the script there.
func writeShim(c Config) error {
	dir := ShimDir(c.Dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	quoted := "'" + strings.ReplaceAll(c.Program, "'", `'\''`) + "'"
	text := strings.ReplaceAll(shim, "@PROGRAM@", quoted)
	return os.WriteFile(filepath.Join(dir, "go"), []byte(text), 0o700)
}
