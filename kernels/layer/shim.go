package layer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// ShimDir returns the folder of a kernel that must come first in its engine's PATH. The folder has scripts named `go`,
// `goimports` and `gopls`.
func ShimDir(dir string) string { return filepath.Join(dir, "bin") }

// writeShim writes the scripts.
func writeShim(c Config) error {
	dir := ShimDir(c.Dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	fill := strings.NewReplacer("@PROGRAM@", quote(c.Program), "@DIR@", quote(c.Dir),
		"@GOPLS@", quote(goplsOf(c)))
	return errors.Join(os.WriteFile(filepath.Join(dir, "go"), []byte(fill.Replace(shim)), 0o700),
		os.WriteFile(filepath.Join(dir, "goimports"), []byte(fill.Replace(importsShim)), 0o700),
		os.WriteFile(filepath.Join(dir, "gopls"), []byte(fill.Replace(goplsShim)), 0o700))
}

// quote makes a single word for the shell from any text.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
