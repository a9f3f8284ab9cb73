package agent_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

var update = flag.Bool("update", false, "write testdata anew")

// A configuration that makes a different agent is refused, and the error names the field. If the agent is the same, it
// continues.
func TestLoadComparesConfigurations(t *testing.T) {
	config := func() agent.Config {
		return agent.Config{
			Learner: learner.Learner{
				Belief: netModel(2, 8, 4, base.ActivationTanh), StepSize: 0.01, Policy: explore.IDS{N: 7},
				Train: train.Config{Capacity: 20, Steps: 2, Batch: 8, Indices: 4, Integrate: train.Sampled},
			},
			Features: 2,
			Backend:  backend.Go,
			Seed:     1<<63 + 5,
		}
	}
	a := must.M1(agent.New(config()))
	must.M(a.Told([]float32{1, 0.5}, 1))
	path := filepath.Join(t.TempDir(), "agent")
	must.M(a.Save(path))
	if text := must.M1(os.ReadFile(path)); !bytes.Contains(text, []byte(`"StepSize":0.01`)) ||
		!bytes.Contains(text, []byte(`"type":"base.MLP"`)) {
		t.Error("the file does not show the configuration as text")
	}
	of := func(change func(m *hyper.Model)) func(c *agent.Config) {
		return func(c *agent.Config) {
			m := c.Learner.Belief.(hyper.Model)
			change(&m)
			c.Learner.Belief = m
		}
	}
	linear := func(change func(h *hyper.Linear)) func(c *agent.Config) {
		return of(func(m *hyper.Model) {
			h := m.Hyper.(hyper.Linear)
			change(&h)
			m.Hyper = h
		})
	}
	for name, c := range map[string]struct {
		change func(*agent.Config)
		want   string // "" loads
	}{
		"the same":   {func(*agent.Config) {}, ""},
		"defaults":   {func(c *agent.Config) { c.Learner.NoiseVariance, c.Learner.KL, c.Floor = 1, 1, 0.01 }, ""},
		"backend":    {func(c *agent.Config) { c.Backend = backend.Default() }, ""},
		"more room":  {func(c *agent.Config) { c.Learner.Train.Capacity = 30 }, ""},
		"same init":  {linear(func(h *hyper.Linear) { h.InitM = hyper.InitZeros }), ""},
		"other init": {linear(func(h *hyper.Linear) { h.InitC = hyper.InitNormal(0.3) }), "a different initializer"},
		"activation": {func(c *agent.Config) { c.Learner.Belief = netModel(2, 8, 4, base.ActivationReLU) },
			`Learner.Belief.Base.Activation: "tanh" in the file, "relu" here`},
		"width": {func(c *agent.Config) { c.Learner.Belief = netModel(2, 9, 4, base.ActivationTanh) },
			`Learner.Belief.Base.Layers: [2,8,1] in the file, [2,9,1] here`},
		"hypermodel": {of(func(m *hyper.Model) { m.Hyper = hyper.MeanField{Params: 33} }),
			`Learner.Belief.Hyper: hyper.Linear in the file, hyper.MeanField here`},
		"index": {linear(func(h *hyper.Linear) { h.P = index.Sphere{N: 4} }),
			`Learner.Belief.Hyper.P: index.Gaussian in the file, index.Sphere here`},
		"prior": {of(func(m *hyper.Model) { m.Prior = &hyper.Prior{Layout: hyper.Dense(33, 4)} }),
			`Learner.Belief.Prior: not set in the file`},
		"step": {func(c *agent.Config) { c.Learner.StepSize = 0.02 },
			"Learner.StepSize: 0.01 in the file, 0.02 here"},
		"noise": {func(c *agent.Config) { c.Learner.NoiseVariance = 2 },
			"Learner.NoiseVariance: 1 in the file, 2 here"},
		"seed": {func(c *agent.Config) { c.Seed++ },
			"Seed: 9223372036854775813 in the file, 9223372036854775814 here"},
		"steps, batch": {func(c *agent.Config) { c.Learner.Train.Steps, c.Learner.Train.Batch = 3, 9 },
			"Learner.Train.Batch: 8 in the file, 9 here; Learner.Train.Steps: 2 in the file, 3 here"},
		"clip": {func(c *agent.Config) { c.Learner.Clip = 3 }, "Learner.Clip: not set in the file, 3 here"},
		"policy": {func(c *agent.Config) { c.Learner.Policy = explore.UCB{} },
			"Learner.Policy: explore.IDS in the file, explore.UCB here"},
		"functions": {func(c *agent.Config) { c.Learner.Policy = explore.IDS{N: 8} },
			"Learner.Policy.N: 7 in the file, 8 here"},
		"floor":  {func(c *agent.Config) { c.Floor = -1 }, "Floor: 0.01 in the file, -1 here"},
		"replay": {func(c *agent.Config) { c.Replay = agent.Window }, `Replay: "growth" in the file, "window" here`},
		"optimizer": {func(c *agent.Config) { c.Learner.Train.Optimizer = train.Adam{} },
			`Learner.Train.Optimizer: not set in the file, train.Adam here`},
		"perturbations": {func(c *agent.Config) { c.Learner.Perturbation = -1 },
			"Learner.Perturbation: 1 in the file, -1 here"},
	} {
		other := config()
		c.change(&other)
		b, err := agent.Load(other, path)
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		case c.want == "" && b.Size() != 1:
			t.Errorf("%s: got %d data, want 1", name, b.Size())
		}
	}
}

// Later versions read files of this format: an agent of three arms that has seen five data and waits for the feedback of
// a decision. -update writes the file.
func TestFileOfThisFormat(t *testing.T) {
	c := agent.Config{
		Learner: learner.Learner{
			Belief: armsModel(3, 2), StepSize: 0.01, NoiseVariance: 1, PriorVariance: 1, Perturbation: 1,
			MapStep: 1, KL: 1, Policy: explore.TopTwo{N: 20},
			Train: train.Config{Capacity: 8, Steps: 2, Batch: 4, Indices: 2, Integrate: train.FullData},
		},
		Floor:   0.1,
		Seed:    7,
		Replay:  agent.Growth,
		Backend: backend.Go,
	}
	path := filepath.Join("testdata", "agent-4")
	if *update {
		a := must.M1(agent.New(c))
		for i := range 5 {
			must.M(a.Told([]float32{float32(i % 3)}, float32(i)/4))
		}
		t.Logf("the decision that waits for feedback is %s", must.M1(a.Act(context.Background(), nil)).ID)
		must.M(a.Save(path))
	}
	testbackend.ForEach(t, func(t *testing.T, on string) {
		c.Backend = on
		a := must.M1(agent.Load(c, path))
		d, want := must.M1(a.Act(context.Background(), nil)), "1 of [0.37026 0.28141 0.34833]"
		if got := fmt.Sprintf("%d of %.5f", d.Action, d.Probabilities); a.Size() != 5 || got != want {
			t.Errorf("%d data, action %s, want %s", a.Size(), got, want)
		}
		err := a.Observe(context.Background(), agent.Feedback{ID: "0-4e02f272", Reward: 1})
		if err != nil || a.Size() != 6 {
			t.Errorf("feedback for the waiting decision: got error %v and %d data", err, a.Size())
		}
	})
}

func TestBadFiles(t *testing.T) {
	c := agent.Config{Learner: learner.Learner{
		Belief: armsModel(3, 2), Train: train.Config{Capacity: 8, Integrate: train.Sampled},
	}, Backend: backend.Go}
	dir := t.TempDir()
	path := filepath.Join(dir, "agent")
	must.M(must.M1(agent.New(c)).Save(path))
	good := must.M1(os.ReadFile(path))
	for want, data := range map[string][]byte{"it is empty": {}, "it is cut off": good[:len(good)/2],
		"its checksum is wrong":                         bytes.Replace(good, []byte("sampled"), []byte("sAmpled"), 1),
		"it does not begin like a file of this program": []byte("a letter to a friend, of another program")} {
		bad := filepath.Join(dir, "bad")
		must.M(os.WriteFile(bad, data, 0o600))
		if _, err := agent.Load(c, bad); !errors.Is(err, agent.ErrDamaged) ||
			!strings.Contains(err.Error(), want+"; use an earlier file, or a backup") {
			t.Errorf("error %v, want %s", err, want)
		}
		if _, err := agent.Reader(c, bad, 1); !errors.Is(err, agent.ErrDamaged) {
			t.Errorf("a Reader: error %v, want %s", err, want)
		}
	}
	if _, err := agent.Load(c, dir); !errors.Is(err, agent.ErrDamaged) ||
		!strings.HasSuffix(err.Error(), "it is a folder") {
		t.Errorf("Load of a folder: got error %v, want ErrDamaged that says that it is a folder", err)
	}
	if _, err := agent.Load(c, filepath.Join(dir, "none")); !os.IsNotExist(errCause(err)) {
		t.Errorf("missing file: got error %v, want not-exist", err)
	}
}

// The error of Save names the cause and the file.
func TestSaveFails(t *testing.T) {
	a, dir := must.M1(agent.New(agent.Config{Backend: backend.Go}.Arms(2))), t.TempDir()
	must.M(os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for _, path := range []string{dir, filepath.Join(dir, "file", "agent"), ""} {
		if err := a.Save(path); err == nil || !strings.HasPrefix(err.Error(), "saving "+path+": ") {
			t.Errorf("Save to %q: got error %v, want one that names the path", path, err)
		}
	}
}

func errCause(err error) error {
	for {
		inner, ok := err.(interface{ Unwrap() error })
		if !ok || inner.Unwrap() == nil {
			return err
		}
		if os.IsNotExist(err) {
			return err
		}
		err = inner.Unwrap()
	}
}
