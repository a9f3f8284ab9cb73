package layer

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/janpfeifer/must"
)

const imports = `package main

import "fmt"
import . "math"

import (
	"os"
	. "strings" // of an earlier cell
	r "math/rand"
)

func main() { fmt.Println(r.Int()) }
`

const pruned = `package main

import "fmt"
               

import (
	    
	            // of an earlier cell
	r "math/rand"
)

func main() { fmt.Println(r.Int()) }
`

func TestPrune(t *testing.T) {
	dir := t.TempDir()
	program, said := filepath.Join(dir, "main.go"), filepath.Join(dir, "said")
	must.M(os.WriteFile(program, []byte(imports), 0o600))
	must.M(os.WriteFile(said, []byte("# gonb_ab12\n./main.go:4:8: \"math\" imported and not used\n"+
		"./main.go:7:2: \"os\" imported and not used\n./main.go:8:4: \"strings\" imported as strings and not used\n"+
		"./main.go:12:2: undefined: x\n"), 0o600))
	if code := RunPrune([]string{dir, said}); code != 0 {
		t.Errorf("exit status %d", code)
	}
	if got := string(must.M1(os.ReadFile(program))); got != pruned {
		t.Errorf("got %q", got)
	}
	must.M(os.WriteFile(said, []byte("./main.go:12:2: undefined: x\n"), 0o600))
	if code := RunPrune([]string{dir, said}); code != 1 {
		t.Errorf("exit status %d where there is nothing to do", code)
	}
	must.M(os.WriteFile(said, []byte("./main.go:12:2: \"x\" imported and not used\n"), 0o600))
	if code := RunPrune([]string{dir, said}); code != 1 {
		t.Errorf("exit status %d of a line without an import", code)
	}
}
