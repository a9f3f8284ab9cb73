package notebook

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"
	gonum "gonum.org/v1/plot"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/plot"
)

func spec(t *testing.T, periods int) lab.Spec {
	t.Helper()
	s := must.M1(paper.Gaussian.Spec([]string{"exact", "linear"}, []string{"arms=5", "integrate=full-data"},
		lab.Size{Periods: periods, Runs: 4}, 3))
	return s
}

// A run shows its progress with a figure, and no output remains at the end. A second run of the same Spec shows and
// computes nothing.
func TestRun(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s, now := spec(t, 60), shown(t)
	_, rows := Run(s)
	if len(rows) != s.Rows() {
		t.Fatalf("got %d rows, want all", len(rows))
	}
	all := texts(t, now())
	if len(all) < 4 || !strings.Contains(all[0], "compiling") || all[len(all)-1] != "" {
		t.Fatalf("got %d messages, the last one %.80q, want it empty", len(all), all[len(all)-1])
	}
	last := all[len(all)-2]
	if !strings.Contains(last, "% of 480 run-periods") { // 2 agents, 4 runs, 60 periods
		t.Errorf("line before the end: got %.120q, want the share of 480 run-periods", last)
	}
	checkImage(t, last)
	now = shown(t)
	_, again := Run(s)
	if !slices.Equal(again, rows) || len(now()) != 0 {
		t.Errorf("second call: got %d rows and %d messages, want the same rows and none", len(again), len(now()))
	}
	files, _ := filepath.Glob(filepath.Join(os.TempDir(), "gaussian-*", lab.ResultsFile))
	if len(files) != 1 {
		t.Fatalf("results are in the files %v, want one", files)
	}
	if other, _ := folder(spec(t, 61)); other == filepath.Dir(files[0]) {
		t.Error("two Specs have the same folder")
	}
	catalog.AddPolicy("of-a-cell", "a policy that the next version of the cell may change", ofACell{})
	if other, _ := folder(spec(t, 60)); other == filepath.Dir(files[0]) {
		t.Error("a program with a policy of its own has the folder of other programs")
	}
}

type ofACell struct{ explore.Thompson }

// An interrupted run leaves valid partial results and no output. The next call returns the same rows as a run without
// interruption.
func TestInterruptedRun(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a run")
	}
	s := spec(t, 100)
	t.Setenv("TMPDIR", t.TempDir())
	_, want := Run(s)
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	now := shown(t)
	go func() {
		for len(now()) < 3 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if _, _, err := run(ctx, s); !errors.Is(err, lab.ErrInterrupted) {
		t.Fatalf("got %v, want an interruption", err)
	}
	if all := texts(t, now()); all[len(all)-1] != "" {
		t.Error("the output is not empty at the end")
	}
	dir, _ := folder(s)
	if _, rows, err := lab.ReadResults(dir, paper.Known); err != nil || len(rows) == s.Rows() {
		t.Fatalf("after the interrupt: got %d of %d rows, error %v, want a part", len(rows), len(want), err)
	}
	if _, got := Run(s); !slices.Equal(got, want) {
		t.Error("the rows differ from the rows of a run without interruption")
	}
}

// A Spec that cannot be run fails the cell, and leaves no output.
func TestRunFails(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	now := shown(t)
	defer func() {
		if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), "runs must be at least 1") {
			t.Errorf("got panic %v, want one about the number of runs", err)
		}
		if all := texts(t, now()); all[len(all)-1] != "" {
			t.Error("the output is not empty at the end")
		}
	}()
	s := spec(t, 100)
	s.Runs = 0
	Run(s)
}

// Unfinished runs are left out if the entry has finished runs.
func TestSettled(t *testing.T) {
	row := func(entry, seed, period int) lab.Row {
		return lab.Row{Entry: entry, Seed: uint64(seed), Period: period}
	}
	rows := []lab.Row{row(0, 1, 1), row(0, 1, 2), row(0, 2, 1), row(1, 1, 1), row(1, 2, 1)}
	if got, want := settled(rows, 2), []lab.Row{rows[0], rows[1], rows[3], rows[4]}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A Live shows the text as it is, a figure if there is one, and not too often.
func TestLive(t *testing.T) {
	figure := func() (*gonum.Plot, error) {
		return plot.Lines(plot.Axes{}, plot.Series{X: []float64{0, 1}, Y: []float64{1, 2}})
	}
	now, l := shown(t), NewLive()
	l.Close() // nothing was shown
	l.Show("a < b", nil)
	time.Sleep(time.Until(l.next))
	l.Show("figure", figure)
	drawn := false
	l.Show("too soon after a figure", func() (*gonum.Plot, error) { drawn = true; return figure() })
	time.Sleep(time.Until(l.next))
	l.Show("no figure", func() (*gonum.Plot, error) { return nil, errors.New("nothing to draw") })
	l.Close()
	all := texts(t, now())
	if len(all) != 4 || drawn {
		t.Fatalf("got %d messages, want 4: %.100q", len(all), all)
	}
	checkImage(t, all[1])
	for i, want := range map[int]string{0: "<div>a &lt; b</div>", 2: "<div>no figure</div>", 3: ""} {
		if all[i] != want {
			t.Errorf("message %d: got %q", i, all[i])
		}
	}
}

// A Live shows output 5 to 10 times a second if the output is drawn quickly.
func TestLiveRate(t *testing.T) {
	if testing.Short() {
		t.Skip("waits by the clock")
	}
	defer func(before time.Duration) { livePause = before }(livePause)
	livePause = 50 * time.Millisecond
	now, l, begin := shown(t), NewLive(), time.Now()
	for time.Since(begin) < time.Second/2 {
		l.Show("still at it", nil)
		time.Sleep(10 * time.Millisecond)
	}
	if n := len(now()); n < 5 || n > 11 {
		t.Errorf("got %d outputs in half a second, want 5 to 11", n)
	}
}

// Figures have twice the pixels of their size on the page, and a text that describes them.
func TestFigure(t *testing.T) {
	p := must.M1(plot.Lines(plot.Axes{Title: "A < B"}, plot.Series{X: []float64{0, 1}, Y: []float64{1, 2}}))
	other := must.M1(plot.Lines(plot.Axes{X: "x", Y: "y"}, plot.Series{X: []float64{0, 1}, Y: []float64{1, 2}}))
	now := shown(t)
	Figure(p, 8, 5, 50)
	Panels(2, 16, 5, 50, p, other)
	all := now()
	if len(all) != 2 {
		t.Fatalf("got %d messages, want 2", len(all))
	}
	for i, want := range []struct {
		tag, text     string
		width, height int
	}{
		{`<img alt="A &lt; B" width="167" height="108" `, "A < B", 315, 197},
		{`<img alt="A &lt; B; y against x" width="325" height="108" `, "A < B; y against x", 630, 197},
	} {
		shown, _ := all[i].Data[protocol.MIMETextHTML].(string)
		if !strings.HasPrefix(shown, want.tag) || all[i].Data[protocol.MIMETextPlain] != want.text {
			t.Errorf("got HTML %.200s and text %v", shown, all[i].Data[protocol.MIMETextPlain])
		}
		if size := checkImage(t, shown); size.X != want.width || size.Y != want.height {
			t.Errorf("%v pixels, want %d by %d", size, want.width, want.height)
		}
	}
}
