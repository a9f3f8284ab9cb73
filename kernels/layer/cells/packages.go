package cells

import "path"

const hyperPath = "github.com/hypermodels/hypermodels/hyper"

// ownPackages lists the packages of hyper that cells can use without an import.
var ownPackages = []string{"agent", "agent/offpolicy", "analysis", "approx", "backend", "bandit", "bandit/sheet",
	"base", "beyond", "catalog", "explore", "index", "lab", "layers", "learner", "notebook", "paper", "plot", "rng",
	"stats", "study", "testbed", "train"}

// usual lists packages outside this project that cells often use without an import.
var usual = []string{"bufio", "bytes", "cmp", "context", "encoding/csv", "encoding/json", "errors", "fmt", "image",
	"io", "iter", "log", "maps", "math", "math/rand/v2", "net/http", "os", "os/exec", "path/filepath", "reflect", "regexp",
	"runtime", "slices", "sort", "strconv", "strings", "sync", "time", "unicode", "github.com/janpfeifer/must",
	"github.com/janpfeifer/gonb/cache", "github.com/janpfeifer/gonb/gonbui", "github.com/gomlx/gomlx/core/tensors"}

// KnownPackages returns the imports of well-known packages by name, as they are written in a file.
func KnownPackages() map[string]string {
	known := map[string]string{"hyper": `"` + hyperPath + `"`}
	for _, p := range ownPackages {
		known[path.Base(p)] = `"` + hyperPath + "/" + p + `"`
	}
	for _, p := range usual {
		name := path.Base(p)
		if name == "v2" {
			name = path.Base(path.Dir(p))
		}
		known[name] = `"` + p + `"`
	}
	return known
}
