package layer

import (
	"slices"
	"strings"
	"testing"
)

func TestMagics(t *testing.T) {
	for _, c := range []struct {
		code string
		at   int
		want string
	}{
		{"%hy", 3, "%hyper"}, {"%", 1, "%% %%bash"}, {"%%b", 3, "%%bash"}, {"x\n%%", 4, "%%"}, {"//gonb:%hy", 10, "%hyper"},
		{"%%\n%ca\nf()", 6, "%capture"}, {"%%bash\n%ca", 10, ""}, {"%%bash", 6, "%%bash"},
		{"%hyper run", 10, ""}, {"a %hy", 5, ""}, {"%nothing", 8, ""},
	} {
		var got []string
		word, first, ok := magicAt(c.code, c.at)
		if ok {
			found := completeMagic(word, first, c.at)
			got = found["matches"].([]string)
			if text := c.code[found["cursor_start"].(int):c.at]; text != word {
				t.Errorf("%q: the completion replaces %q", c.code, text)
			}
		}
		want := strings.Fields(c.want)
		if begins := slices.Equal(got[:min(len(got), len(want))], want); !begins || len(want) == 0 && len(got) > 0 {
			t.Errorf("%q: %v, want %v", c.code, got, want)
		}
	}
}

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
		{"%capture --re", 13, nil},
		{"%hyper run ga\n", 14, nil},
		{"%hyper run", 99, []string{"run"}},
		{"%hyper run", -1, nil},
	} {
		if words, ok := commandLine(c.code, c.cursor); !slices.Equal(words, c.words) || ok != (c.words != nil) {
			t.Errorf("%q at %d: got words %q, %v", c.code, c.cursor, words, ok)
		}
	}
}
