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
	program := filepath.Join(dir, "main.go")
	must.M(os.WriteFile(program, []byte(imports), 0o600))
	if !prune(dir, []byte("# gonb_ab12\n./main.go:4:8: \"math\" imported and not used\n"+
		"./main.go:7:2: \"os\" imported and not used\n./main.go:8:4: \"strings\" imported as strings and not used\n"+
		"./main.go:12:2: undefined: x\n")) {
		t.Error("nothing is taken out")
	}
	if got := string(must.M1(os.ReadFile(program))); got != pruned {
		t.Errorf("got %q", got)
	}
	if prune(dir, []byte("./main.go:12:2: undefined: x\n")) {
		t.Error("something is taken out where there is nothing to do")
	}
	if prune(dir, []byte("./main.go:12:2: \"x\" imported and not used\n")) {
		t.Error("something is taken out of a line without an import")
	}
}
