package agent_test

import (
	"bytes"
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
	"github.com/hypermodels/hypermodels/hyper/train"
)

var update = flag.Bool("update", false, "write testdata anew")

// A configuration that makes another agent is refused, and the error names the field; where the agent is the same it
// goes on.
func TestLoadComparesConfigurations(t *testing.T) {
	config := func() agent.Config {
		return agent.Config{
			Model: netModel(2, 8, 4, base.ActivationTanh), Features: 2, Backend: backend.Go, StepSize: 0.01, Seed: 1<<63 + 5, Policy: explore.IDS{N: 7},
			Train: train.Config{Capacity: 20, Steps: 2, Batch: 8, Indices: 4, Integrate: train.Sampled},
		}
	}
	a := must.M1(agent.New(config()))
	must.M(a.Observe([]float32{1, 0.5}, 1))
	path := filepath.Join(t.TempDir(), "agent")
	must.M(a.Save(path))
	if text := must.M1(os.ReadFile(path)); !bytes.Contains(text, []byte(`"StepSize":0.01`)) || !bytes.Contains(text, []byte(`"type":"base.MLP"`)) {
		t.Error("the configuration cannot be read in the file")
	}
	linear := func(c *agent.Config) hyper.Linear { return c.Model.Hyper.(hyper.Linear) }
	for name, c := range map[string]struct {
		change func(*agent.Config)
		want   string // "" loads
	}{
		"the same":      {func(*agent.Config) {}, ""},
		"defaults":      {func(c *agent.Config) { c.NoiseVariance, c.Anneal, c.Floor = 1, 30, 0.01 }, ""},
		"backend":       {func(c *agent.Config) { c.Backend = backend.Default() }, ""},
		"more room":     {func(c *agent.Config) { c.Train.Capacity = 30 }, ""},
		"same init":     {func(c *agent.Config) { h := linear(c); h.InitM = hyper.InitZeros; c.Model.Hyper = h }, ""},
		"other init":    {func(c *agent.Config) { h := linear(c); h.InitC = hyper.InitNormal(0.3); c.Model.Hyper = h }, "another initializer"},
		"activation":    {func(c *agent.Config) { c.Model = netModel(2, 8, 4, base.ActivationReLU) }, `Model.Base.Activation: "tanh" in the file, "relu" here`},
		"width":         {func(c *agent.Config) { c.Model = netModel(2, 9, 4, base.ActivationTanh) }, `Model.Base.Layers: [2,8,1] in the file, [2,9,1] here`},
		"hypermodel":    {func(c *agent.Config) { c.Model.Hyper = hyper.MeanField{Params: 33} }, `Model.Hyper: hyper.Linear in the file, hyper.MeanField here`},
		"index":         {func(c *agent.Config) { h := linear(c); h.P = index.Sphere{N: 4}; c.Model.Hyper = h }, `Model.Hyper.P: index.Gaussian in the file, index.Sphere here`},
		"prior":         {func(c *agent.Config) { c.Model.Prior = &hyper.Prior{Layout: hyper.Dense(33, 4)} }, `Model.Prior: not set in the file`},
		"step":          {func(c *agent.Config) { c.StepSize = 0.02 }, "StepSize: 0.01 in the file, 0.02 here"},
		"noise":         {func(c *agent.Config) { c.NoiseVariance = 2 }, "NoiseVariance: 1 in the file, 2 here"},
		"seed":          {func(c *agent.Config) { c.Seed++ }, "Seed: 9223372036854775813 in the file, 9223372036854775814 here"},
		"steps, batch":  {func(c *agent.Config) { c.Train.Steps, c.Train.Batch = 3, 9 }, "Train.Batch: 8 in the file, 9 here; Train.Steps: 2 in the file, 3 here"},
		"clip":          {func(c *agent.Config) { c.Clip = 3 }, "Clip: not set in the file, 3 here"},
		"policy":        {func(c *agent.Config) { c.Policy = explore.UCB{} }, "Policy: explore.IDS in the file, explore.UCB here"},
		"functions":     {func(c *agent.Config) { c.Policy = explore.IDS{N: 8} }, "Policy.N: 7 in the file, 8 here"},
		"floor":         {func(c *agent.Config) { c.Floor = -1 }, "Floor: 0.01 in the file, -1 here"},
		"replay":        {func(c *agent.Config) { c.Replay = agent.Window }, `Replay: "growth" in the file, "window" here`},
		"optimizer":     {func(c *agent.Config) { c.Train.Optimizer = "adam" }, `Train.Optimizer: not set in the file, "adam" here`},
		"perturbations": {func(c *agent.Config) { c.Perturbation = -1 }, "Perturbation: 1 in the file, -1 here"},
	} {
		other := config()
		c.change(&other)
		b, err := agent.Load(other, path)
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		case c.want == "" && b.Size() != 1:
			t.Errorf("%s: %d data", name, b.Size())
		}
	}
}

// A file of this format is read by later versions: an agent of three arms that has seen five data. -update writes it.
func TestFileOfThisFormat(t *testing.T) {
	c := agent.Config{
		Model: armsModel(3, 2), StepSize: 0.01, NoiseVariance: 1, PriorVariance: 1, Perturbation: 1, MapStep: 1, KL: 1, Floor: 0.1, Anneal: 30, Seed: 7,
		Policy: explore.TopTwo{N: 20}, Replay: agent.Growth, Backend: backend.Go,
		Train: train.Config{Capacity: 8, Steps: 2, Batch: 4, Indices: 2, Integrate: train.FullData},
	}
	path := filepath.Join("testdata", "agent-2")
	if *update {
		a := must.M1(agent.New(c))
		for i := range 5 {
			must.M(a.Observe([]float32{float32(i % 3)}, float32(i)/4))
		}
		must.M1(a.Act(nil))
		must.M(a.Save(path))
	}
	testbackend.Each(t, func(t *testing.T, on string) {
		c.Backend = on
		a, err := agent.Load(c, path)
		if err != nil {
			t.Fatal(err)
		}
		d := must.M1(a.Act(nil))
		if got, want := fmt.Sprintf("%d of %.5f", d.Action, d.Probabilities), "1 of [0.28141 0.34833 0.37026]"; a.Size() != 5 || got != want {
			t.Errorf("%d data, action %s, want %s", a.Size(), got, want)
		}
	})
}

func TestBadFiles(t *testing.T) {
	c := agent.Config{Model: armsModel(3, 2), Backend: backend.Go, Train: train.Config{Capacity: 8, Integrate: train.Sampled}}
	dir := t.TempDir()
	path := filepath.Join(dir, "agent")
	must.M(must.M1(agent.New(c)).Save(path))
	good := must.M1(os.ReadFile(path))
	for name, data := range map[string][]byte{"empty": {}, "cut": good[:len(good)/2], "flipped": bytes.Replace(good, []byte("sampled"), []byte("sAmpled"), 1)} {
		bad := filepath.Join(dir, name)
		must.M(os.WriteFile(bad, data, 0o600))
		if _, err := agent.Load(c, bad); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := agent.Load(c, filepath.Join(dir, "none")); !os.IsNotExist(errCause(err)) {
		t.Errorf("no file: error %v", err)
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
