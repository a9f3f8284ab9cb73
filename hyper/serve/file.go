package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/saved"
	"github.com/hypermodels/hypermodels/hyper/internal/strict"
)

// mostSpec is the largest size of a Spec's file in bytes.
const mostSpec = 1 << 20

// ReadSpec reads a Spec from a file and checks it.
func ReadSpec(path string) (Spec, error) {
	f, err := os.Open(path)
	if err != nil {
		return Spec{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostSpec+1))
	if err == nil && len(text) > mostSpec {
		err = fmt.Errorf("it has more than %d bytes", mostSpec)
	}
	var s Spec
	if err == nil {
		err = strict.JSON(text, &s)
	}
	if err == nil {
		_, err = Config(s)
	}
	return s, faults.Prefix(path+": ", err)
}

// decode reads one JSON value strictly: see package strict.
func decode(r io.Reader, v any) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return strict.JSON(text, v)
}

// Names of files in the folder of a server: its agent, and the Spec of this agent.
const (
	agentFile = "agent"
	specFile  = "spec.json"
)

// SpecOf returns the Spec of the agent in a folder.
func SpecOf(dir string) (Spec, error) { return ReadSpec(filepath.Join(dir, specFile)) }

// lastSpec returns the Spec in a folder, or spec if the folder has none. The error says that spec cannot continue the
// folder's log.
func lastSpec(dir string, spec Spec) (Spec, error) {
	last, err := SpecOf(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return spec, nil
	}
	if err == nil {
		if err = CheckNames(spec, last); err != nil {
			err = fmt.Errorf("%s is the folder of a different agent; give another folder with --dir: %w", dir, err)
		}
	}
	return last, err
}

// saveSpec saves a Spec in the folder.
func saveSpec(dir string, spec Spec) error {
	text, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		return err
	}
	return saved.WriteFile(filepath.Join(dir, specFile), append(text, '\n'))
}

// named converts features to the form of a record, and featuresOf converts them back.
func named(f Features) journal.Named { return journal.Named{Names: f.Names, Buckets: f.Buckets} }

func featuresOf(n journal.Named) Features { return Features{Names: n.Names, Buckets: n.Buckets} }

// alike reports whether two Specs have the same features in the same order.
func alike(a, b Spec) bool {
	return slices.Equal(a.Context.Names, b.Context.Names) && slices.Equal(a.Action.Names, b.Action.Names)
}

// same reports whether two Specs are equal.
func same(a, b Spec) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}

// CheckNames reports a Spec that cannot continue the log of another Spec, of, which is the Spec of a folder. Arms and
// names of features may differ (see "Arms come and go" in the README); other parts that define the meaning of numbers
// must not.
func CheckNames(spec, of Spec) error {
	var errs []error
	if (len(spec.Arms) > 0) != (len(of.Arms) > 0) {
		errs = append(errs, errors.New("arms and action must be as in the folder: actions are arms "+
			"on one side, and have features on the other"))
	}
	errs = append(errs, differ("context", spec.Context, of.Context), differ("action", spec.Action, of.Action))
	return errors.Join(errs...)
}

func differ(what string, a, b Features) error {
	if a.Buckets == b.Buckets {
		return nil
	}
	return fmt.Errorf("%s.buckets must be as in the folder, %d, got %d: features that share buckets cannot be told apart",
		what, b.Buckets, a.Buckets)
}
