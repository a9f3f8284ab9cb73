package main

import "testing"

func TestPackageName(t *testing.T) {
	for module, want := range map[string]string{"example.com/My-shop.v2": "my", "example.com/2shop": "shop",
		"example.com/1": "project", "example.com/main": "project", "example.com/go": "project",
		"example.com/fmt": "project"} {
		if got := packageName(module); got != want {
			t.Errorf("package of module %s: got %s, want %s", module, got, want)
		}
	}
}
