package build

import (
	"os"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/kernels/layer/cells"
)

func TestJoin(t *testing.T) {
	for _, folder := range []string{"/mine", "/with a space"} {
		root := t.TempDir()
		dir, mine := root+"/gonb_1", root+folder
		must.M(os.MkdirAll(dir, 0o700))
		must.M(os.MkdirAll(mine+"/notes", 0o700))
		must.M(os.WriteFile(mine+"/go.mod", []byte("module example.com/mine\n"), 0o600))
		const mod, work = "module gonb_1\n\ngo 1.26\n", "go 1.26\n\nuse (\n\t.\n)\n"
		must.M(os.WriteFile(dir+"/go.mod", []byte(mod), 0o600))
		must.M(os.WriteFile(dir+"/go.work", []byte(work), 0o600))
		b := builder{out: dir + "/gonb_1"}
		join := func(code string) (string, string) {
			c, _ := cells.Parse(code)
			p, _ := new(cells.Memory).Program(c, 1, "")
			must.M(b.join(p, mine+"/notes"))
			return string(must.M1(os.ReadFile(dir + "/go.mod"))), string(must.M1(os.ReadFile(dir + "/go.work")))
		}
		if gotMod, gotWork := join("import \"fmt\""); gotMod != mod || gotWork != work {
			t.Errorf("program without the module: got go.mod %q and go.work %q", gotMod, gotWork)
		}
		gotMod, gotWork := join("import \"example.com/mine/internal/x\"")
		if !strings.HasPrefix(gotMod, "module example.com/mine/gonb_1\n") || strings.Count(gotWork, mine) != 1 {
			t.Errorf("with a module: got go.mod %q and go.work %q", gotMod, gotWork)
		}
		if gotMod, gotWork := join("import \"example.com/minerals\""); gotMod != mod || gotWork != work {
			t.Errorf("next program without the module: got go.mod %q and go.work %q", gotMod, gotWork)
		}
		own := strings.Replace(work, "\t.\n", "\t.\n\t\""+mine+"\"\n", 1) // The workspace already has this module.
		must.M(os.WriteFile(dir+"/go.work", []byte(own), 0o600))
		if _, gotWork := join("import x \"example.com/mine\""); gotWork != own {
			t.Errorf("used module: got go.work %q", gotWork)
		}
	}
}
