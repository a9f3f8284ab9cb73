package cells

import "testing"

func TestIsComplete(t *testing.T) {
	for _, c := range []struct{ code, status string }{
		{"", "complete"},
		{"%%\nfmt.Println(1)", "complete"},
		{"%% --flag x\nx := []int{1,\n2}", "complete"},
		{"%main\nx := 1", "complete"},
		{"func f() int { return 1 }", "complete"},
		{"import \"fmt\"\n\nvar x = 1\n%%\nfmt.Println(x)", "complete"},
		{"//gonb:%%\nfmt.Println(1)", "complete"},
		{"!ls -l", "complete"},
		{"!ls (", "complete"},
		{"%env A b\n!echo $A\n%%\nf()", "complete"},
		{"%%bash\nfor f in *; do", "complete"},
		{"%%writefile x.txt\n)", "complete"},
		{"%%\ns := `a\nb`", "complete"},
		{"x := 1", "complete"},
		{"var s = `\n%%\n!ls \\\n`", "complete"}, // These are not special lines.
		{"fmt.Println(1)", "complete"},
		{"import \"fmt\"\nfmt.Println(1)", "complete"},

		{"%%\nfor i := range 3 {", "incomplete"},
		{"%%\nfmt.Println(", "incomplete"},
		{"%%\nx := 1 +", "incomplete"},
		{"%%\ns := `a", "incomplete"},
		{"%%\n/* a", "incomplete"},
		{"func f() {", "incomplete"},
		{"type t struct {\n\ta int", "incomplete"},
		{"import (", "incomplete"},
		{"for i := range 3 {", "incomplete"},
		{"!ls \\", "incomplete"},

		{"func f() {}\nf()", "invalid"},
		{"%%\n}", "invalid"},
		{"%%\n)", "invalid"},
		{"%%\ns := \"a", "invalid"},
		{"%%\nx = = 1\ny := 2", "invalid"},
		{"func f() {}}", "invalid"},
	} {
		if got := IsComplete(c.code); got.Status != c.status {
			t.Errorf("%q: %s, want %s", c.code, got.Status, c.status)
		}
	}
	if got := IsComplete("%%\nfor {\n\tif a {"); got.Indent != "\t\t" {
		t.Errorf("two open braces: got indent %q, want two tabs", got.Indent)
	}
}
