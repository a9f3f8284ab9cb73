package layer

import (
	"slices"
	"testing"
)

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		code   string
		cursor int
		words  []string
	}{
		{"%hyper run ga", 13, []string{"run", "ga"}},
		{"%hyper run ga", 10, []string{"run"}},
		{"%hyper run ", 11, []string{"run", ""}},
		{"%hyper ", 7, []string{""}},
		{"fmt.Println(\"é\")\n//gonb:%hyper li\nx", 33, []string{"li"}},
		{"%hyper", 6, nil},
		{"%hyperbole x", 12, nil},
		{"%kept --re", 10, nil},
		{"%hyper run ga\n", 14, nil},
		{"%hyper run", 99, []string{"run"}},
		{"%hyper run", -1, nil},
	} {
		if words, ok := commandLine(c.code, c.cursor); !slices.Equal(words, c.words) || ok != (c.words != nil) {
			t.Errorf("%q at %d: got words %q, %v", c.code, c.cursor, words, ok)
		}
	}
}
