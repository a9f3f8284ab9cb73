package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
)

func TestPackageName(t *testing.T) {
	for module, want := range map[string]string{"example.com/My-shop.v2": "my", "example.com/2shop": "shop",
		"example.com/1": "project", "example.com/main": "project", "example.com/go": "project",
		"example.com/fmt": "project"} {
		if got := packageName(module); got != want {
			t.Errorf("package of module %s: got %s, want %s", module, got, want)
		}
	}
}

// A project may use a checkout whose path has a space.
func TestPathOfTheCheckout(t *testing.T) {
	p := project{Module: "example.com/shop", Package: "shop", Version: "v0.0.0", Replace: "/my code/hypermodels"}
	dir := t.TempDir()
	must.M(p.write(dir))
	cmd := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), `"`+p.Replace+`"`) {
		t.Errorf("go.mod of a project: got error %v, want %s in\n%s", err, p.Replace, out)
	}
}
