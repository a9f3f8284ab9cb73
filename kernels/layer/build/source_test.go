package build

import (
	"os"
	"testing"

	"github.com/janpfeifer/must"
)

// The files that a program embeds are copied from the notebook's folder, whatever the folder's name is.
func TestEmbed(t *testing.T) {
	for _, folder := range []string{"/notes", "/[draft]"} {
		root := t.TempDir()
		from, dir := root+folder, root+"/gonb_1"
		must.M(os.MkdirAll(from+"/data/more", 0o700))
		must.M(os.MkdirAll(dir, 0o700))
		for _, name := range []string{"/data/a.txt", "/data/more/b.txt", "/c.txt"} {
			must.M(os.WriteFile(from+name, []byte(name), 0o600))
		}
		b := builder{out: dir + "/gonb_1"}
		undo, err := b.embed("//go:embed data/*.txt c.txt data/mo*\nvar files embed.FS\n", from)
		for _, name := range []string{"/data/a.txt", "/data/more/b.txt", "/c.txt"} {
			if text, _ := os.ReadFile(dir + name); err != nil || string(text) != name {
				t.Errorf("%s: got error %v and text %q of %s", folder, err, text, name)
			}
		}
		undo()
		if left := must.M1(os.ReadDir(dir)); len(left) > 0 {
			t.Errorf("%s: files left: %v", folder, left)
		}
	}
}
