package agentfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/saved"
	"github.com/hypermodels/hypermodels/hyper/internal/strict"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// MaxBytes is the largest size of a Spec's file in bytes.
const MaxBytes = 1 << 20

// Read reads a Spec from a file and checks it.
func Read(path string) (api.Spec, error) { return read(path, Config) }

func read(path string, check func(api.Spec) (agent.Config, error)) (api.Spec, error) {
	f, err := os.Open(path)
	if err != nil {
		return api.Spec{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err == nil && len(text) > MaxBytes {
		err = fmt.Errorf("it has more than %d bytes", MaxBytes)
	}
	var s api.Spec
	if err == nil {
		err = strict.JSON(text, &s)
	}
	if err == nil {
		_, err = check(s)
	}
	return s, faults.Prefix(path+": ", err)
}

// Decode reads one JSON value. It reports unknown and repeated keys, and text after the value.
func Decode(r io.Reader, v any) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return strict.JSON(text, v)
}

// AgentFile is the name of the agent's file in the folder of a server.
const AgentFile = "agent"

// SpecFile returns the path of the file with the agent's Spec in the folder of a server.
func SpecFile(dir string) string { return filepath.Join(dir, "spec.json") }

// OfFolder returns the Spec of the agent in a server's folder.
func OfFolder(dir string) (api.Spec, error) { return read(SpecFile(dir), Config) }

// LastSpec returns the Spec of the agent in a server's folder, which is to continue with spec. It returns spec if the
// folder is new. The error says that spec cannot continue the folder's log.
func LastSpec(dir string, spec api.Spec) (api.Spec, error) {
	last, err := OfFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return spec, nil
	}
	if err == nil {
		if err = CheckContinues(spec, last); err != nil {
			err = fmt.Errorf("%s is the folder of a different agent; give another folder with --dir: %w", dir, err)
		}
	}
	return last, err
}

// Save saves a Spec in a server's folder.
func Save(dir string, spec api.Spec) error {
	text, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		return err
	}
	return saved.WriteFile(SpecFile(dir), append(text, '\n'))
}

// ToJournal returns features in the form of a log's records.
func ToJournal(f api.Features) journal.Named {
	return journal.Named{Names: f.Names, Buckets: f.Buckets}
}

// FromJournal returns features from the form of a log's records.
func FromJournal(n journal.Named) api.Features {
	return api.Features{Names: n.Names, Buckets: n.Buckets}
}

// SameFeatures reports whether two Specs have the same features in the same order.
func SameFeatures(a, b api.Spec) bool {
	return slices.Equal(a.Context.Names, b.Context.Names) && slices.Equal(a.Action.Names, b.Action.Names)
}

// Equal reports whether two Specs are equal.
func Equal(a, b api.Spec) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}

// CheckContinues reports a Spec that cannot continue the log of a folder, whose Spec is of. Arms and names of features
// may differ (see "Arms come and go" in the README of package serve); other parts that define the meaning of numbers
// must not.
func CheckContinues(spec, of api.Spec) error {
	var errs []error
	if (len(spec.Arms) > 0) != (len(of.Arms) > 0) {
		errs = append(errs, errors.New("arms and action must be as in the folder: actions are arms "+
			"on one side, and have features on the other"))
	}
	errs = append(errs, differ("context", spec.Context, of.Context), differ("action", spec.Action, of.Action))
	return errors.Join(errs...)
}

func differ(what string, a, b api.Features) error {
	if a.Buckets == b.Buckets {
		return nil
	}
	return fmt.Errorf("%s.buckets must be as in the folder, %d, got %d: features that share buckets cannot be told apart",
		what, b.Buckets, a.Buckets)
}
