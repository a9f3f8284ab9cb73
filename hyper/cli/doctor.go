package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/process"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

func doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Show which backends work here, their versions, and how to install missing ones",
		Args:  argument(),
		RunE:  func(c *cobra.Command, _ []string) error { return doctor(c.OutOrStdout()) },
	}
}

// doctor prints the machine, the versions and the state of each backend. It returns an error if the default backend
// does not work.
func doctor(w io.Writer) error {
	m := process.ThisMachine()
	fmt.Fprintf(w, "hyper %s, %s, %s/%s, %d cores (%s)\n", hyper.Version, m.Go, m.OS, m.Arch, m.CPUs, m.CPU)
	code := lab.ThisProvenance(backend.Default())
	fmt.Fprintf(w, "%s\n%s\n", code, code.Libraries())
	fmt.Fprintf(w, "default backend: %s\n\n", backend.Default())
	var broken error
	for _, name := range backend.Known {
		status, err := probe(name)
		fmt.Fprintf(w, "%-9s %s\n", name, status)
		if err != nil && name == backend.Default() {
			broken = failure{fmt.Errorf("the default backend %s does not work: %w", name, err)}
		}
	}
	fmt.Fprintf(w, "\ncompile cache: %s\n", compileCache())
	if wanted := backend.Default(); broken == nil && !slices.Contains(backend.Known, wanted) {
		_, broken = backend.Open(wanted)
	}
	return broken
}

// probe opens a backend and adds two numbers with it.
func probe(name string) (string, error) {
	device, isXLA := strings.CutPrefix(name, "xla:")
	if isXLA {
		switch {
		case !backend.HasXLA:
			return "not in this binary: it was built without cgo (install a C compiler, and build with CGO_ENABLED=1)",
				errors.New("built without cgo")
		case backend.PluginPath(device) == "":
			get := "go run ./kernels setup"
			if device == "cuda" {
				get += " --cuda"
			}
			return "no plugin: `" + get + "` in a checkout of the project installs it", errors.New("no plugin")
		}
	}
	b, err := backend.Open(name)
	if err != nil {
		return "does not work: " + err.Error(), err
	}
	sum, err := CallOnce(b, func(x *Node) *Node { return ReduceAllSum(x) }, []float32{1, 2})
	if err != nil {
		return "does not work: " + err.Error(), err
	}
	if sum.Value().(float32) != 3 {
		return "gives wrong results: 1 + 2 is not 3", errors.New("wrong result")
	}
	if isXLA {
		about := b.Description()
		if i := strings.LastIndex(about, ") "); i >= 0 { // go-xla repeats the plugin's path before
			about = about[i+len(") "):]
		}
		text := "works: PJRT " + about + ", plugin " + backend.PluginPath(device)
		if _, err := backend.CompilingOf(name); err != nil {
			text += "; each process compiles again: " + err.Error()
		}
		return text, nil
	}
	return "works: " + b.Description(), nil
}

// compileCache describes the cache of XLA's compiled programs.
func compileCache() string {
	if backend.CompileCacheDir() == "" {
		if os.Getenv("HYPER_COMPILE_CACHE") == "" {
			return "switched off, because HOME is not set; HYPER_COMPILE_CACHE=DIR chooses a folder"
		}
		return "switched off by HYPER_COMPILE_CACHE"
	}
	c, err := backend.ReadCompileCache()
	if err != nil {
		return fmt.Sprintf("cannot be used, so each process compiles again: %v", err)
	}
	const mb = 1 << 20
	return fmt.Sprintf("%d programs, %.0f MB of at most %d, in %s (HYPER_COMPILE_CACHE=off|DIR)", c.Programs,
		float64(c.Bytes)/mb, backend.CompileCacheLimit/mb, c.Dir)
}
