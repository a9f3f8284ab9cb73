package cells

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOwnPackagesExist(t *testing.T) {
	for _, name := range ownPackages {
		if _, err := os.Stat(filepath.Join("..", "..", "..", "hyper", name)); err != nil {
			t.Error(err)
		}
	}
}
