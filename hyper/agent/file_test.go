package agent

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/internal/saved"
)

// Files from another program, with a correct checksum, are each refused with the reason.
func TestForeignFiles(t *testing.T) {
	a := ensemble(backend.Go, nil, base.Linear{Features: 2})
	must.M(a.Told([]float32{1, 2}, 3))
	for range 2 {
		must.M1(a.Act(context.Background(), [][]float32{{1, 2}}))
	}
	path := filepath.Join(t.TempDir(), "agent")
	must.M(a.Save(path))
	nu := a.place("nu.0")
	for name, c := range map[string]struct {
		change func(f *file, state []*tensors.Tensor)
		want   string
	}{
		"unchanged": {func(*file, []*tensors.Tensor) {}, ""},
		"no format": {func(f *file, _ []*tensors.Tensor) { f.Format = "" },
			`its format is "", and this version reads "hypermodels agent 4" and "hypermodels agent 5"`},
		"format 2":       {func(f *file, _ []*tensors.Tensor) { f.Format = "hypermodels agent 2" }, "make a new agent"},
		"configuration":  {func(f *file, _ []*tensors.Tensor) { f.Fingerprint = "0" }, "fingerprint"},
		"many rows":      {func(f *file, _ []*tensors.Tensor) { f.Data.Rows = 1 << 40 }, "Train.Capacity"},
		"other rows":     {func(f *file, _ []*tensors.Tensor) { f.Data.Rows-- }, "shape"},
		"kept":           {func(f *file, _ []*tensors.Tensor) { f.Data.Kept = 2 }, "damaged"},
		"negative":       {func(f *file, _ []*tensors.Tensor) { f.Rounds = -1 }, "damaged"},
		"oldest":         {func(f *file, _ []*tensors.Tensor) { f.Data.Oldest = 100 }, "damaged"},
		"names":          {func(f *file, _ []*tensors.Tensor) { f.Names[0] = "nu.9" }, "a different version"},
		"not finite":     {func(_ *file, s []*tensors.Tensor) { set(s[nu], float32(math.NaN())) }, "not finite"},
		"no decision":    {func(f *file, _ []*tensors.Tensor) { f.Pending[1].Number = 2 }, "waits for feedback"},
		"decision twice": {func(f *file, _ []*tensors.Tensor) { f.Pending[1].Number = 0 }, "waits for feedback"},
		"other inputs":   {func(f *file, _ []*tensors.Tensor) { f.Pending = f.Pending[:1] }, "inputs of 1 decisions"},
		"wild inputs":    {func(_ *file, s []*tensors.Tensor) { set(s[len(s)-1], float32(math.Inf(1))) }, "not finite"},
		"another anchor": {func(_ *file, s []*tensors.Tensor) { set(s[slices.Index(a.names, "anchor.0")], 5) },
			"a different initializer"},
	} {
		var f file
		var state []*tensors.Tensor
		must.M(saved.Read(path, &f, &state))
		c.change(&f, state)
		bad := filepath.Join(t.TempDir(), "agent")
		must.M(saved.Write(bad, f, state))
		_, err := Load(a.config, bad)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
		if name == "not finite" && !errors.Is(err, ErrNotFinite) {
			t.Errorf("got error %v, want ErrNotFinite", err)
		}
	}
}

func set(t *tensors.Tensor, v float32) {
	must.M(tensors.MutableFlatData(t, func(values []float32) { values[1] = v }))
}
