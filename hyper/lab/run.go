package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/saved"
)

// Options say how a Spec is run. None of them changes a result, except that Backend rounds in its own way.
type Options struct {
	Dir       string        // where results go; it is made
	Backend   string        // "" is backend.Default()
	Workers   int           // batches advanced at once; 0 is a good number for the backend
	BatchRuns int           // runs in one batch; 0 is a good number for the backend
	Chunk     int           // most periods advanced by one call; 0 is a good number
	Every     time.Duration // between checkpoints; 0 is 20 seconds
	Progress  func(Progress)
}

// Progress is how far a run of a Spec is.
type Progress struct {
	Done, Total   int64 // run-periods, those of an earlier attempt included
	Computed      int64 // run-periods computed by this process
	CompileTime   time.Duration
	Elapsed       time.Duration // since the first program was ready
	RunPeriodRate float64       // run-periods a second
}

// ErrInterrupted says that the context ended a run early; what was computed is saved, and [Resume] goes on.
var ErrInterrupted = errors.New("interrupted")

// Run runs a Spec and writes its results into opts.Dir, which must not hold other results: with those of the same Spec it
// goes on where they end. It returns [ErrInterrupted] after saving when ctx ends.
func Run(ctx context.Context, spec Spec, known map[string]Experiment, opts Options) (Progress, error) {
	if err := spec.Validate(); err != nil {
		return Progress{}, err
	}
	opts = opts.withDefaults()
	e := &engine{plan: newPlan(spec, opts.BatchRuns), opts: opts, known: known}
	return e.run(ctx)
}

// Resume goes on with the Spec whose results lie in opts.Dir, with the backend and batches they were begun with.
func Resume(ctx context.Context, known map[string]Experiment, opts Options) (Progress, error) {
	h, _, err := ReadResults(opts.Dir, known)
	if err != nil {
		return Progress{}, err
	}
	opts.Backend, opts.BatchRuns = h.Backend, h.BatchRuns
	return Run(ctx, h.Spec, known, opts)
}

// withDefaults fills in what was left to choose. On a CPU one run a batch, and a batch a core, was fastest (`hyper bench
// batches` measures it); on a GPU the larger the batch the better.
func (o Options) withDefaults() Options {
	if o.Backend == "" {
		o.Backend = backend.Default()
	}
	gpu := o.Backend == backend.XLACUDA
	if o.Workers <= 0 {
		o.Workers = runtime.NumCPU()
		if gpu {
			o.Workers = 1
		}
	}
	if o.BatchRuns <= 0 {
		o.BatchRuns = 1
		if gpu {
			o.BatchRuns = 256
		}
	}
	if o.Chunk <= 0 {
		o.Chunk = 1000
	}
	if o.Every <= 0 {
		o.Every = 20 * time.Second
	}
	return o
}

type engine struct {
	plan     plan
	opts     Options
	known    map[string]Experiment
	out      *writer
	programs []*compiled

	total, before  int64
	computed       atomic.Int64
	compileTime    atomic.Int64
	mu             sync.Mutex
	started, ended time.Time
}

// compiled is the program of a shape, made when a batch first needs it.
type compiled struct {
	once sync.Once
	p    *program
	err  error
}

func (e *engine) run(ctx context.Context) (Progress, error) {
	e.total = int64(len(e.plan.spec.Entries)) * int64(e.plan.spec.Runs) * int64(e.plan.spec.Periods)
	for range e.plan.shapes {
		e.programs = append(e.programs, &compiled{})
	}
	if _, err := backend.Open(e.opts.Backend); err != nil {
		return Progress{}, err
	}
	if err := e.open(); err != nil {
		return Progress{}, err
	}
	defer func() { _ = e.out.file.Close() }()
	err := e.work(ctx)
	if err == nil {
		_ = os.Remove(filepath.Join(e.opts.Dir, "checkpoints")) // empty by now
	}
	return e.progress(), err
}

// open makes the result file, or takes up the one that is there.
func (e *engine) open() error {
	header := Header{Format: Format, Spec: e.plan.spec, Version: hyper.Version, Backend: e.opts.Backend, BatchRuns: e.opts.BatchRuns, Machine: ThisMachine()}
	path := filepath.Join(e.opts.Dir, ResultsFile)
	if err := os.MkdirAll(e.opts.Dir, 0o755); err != nil {
		return err
	}
	e.out = &writer{rows: map[int][]Row{}, done: map[int]bool{}}
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		line, err := json.Marshal(header)
		if err != nil {
			return err
		}
		if err := WriteFile(path, append(line, '\n')); err != nil {
			return fmt.Errorf("starting results: %w", err)
		}
	} else if err != nil {
		return err
	} else if err := e.takeUp(path, text, header); err != nil {
		return err
	}
	e.out.file, err = os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o644)
	return err
}

// takeUp checks that the results there are of this Spec, cuts off a half-written line, and finds the place to go on.
func (e *engine) takeUp(path string, text []byte, want Header) error {
	h, rows, whole, err := parseResults(text, e.known)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if !reflect.DeepEqual(h.Spec, want.Spec) || h.Backend != want.Backend || h.BatchRuns != want.BatchRuns {
		return fmt.Errorf("%s holds results of another Spec, backend or batch size; choose another --out, or `hyper resume` it", path)
	}
	if h.Version != want.Version {
		return fmt.Errorf("%s was begun by version %s, this is %s: results must not mix; choose another --out", path, h.Version, want.Version)
	}
	if err := os.Truncate(path, int64(whole)); err != nil {
		return err
	}
	left := len(rows)
	for _, b := range e.plan.batches {
		if left < e.plan.rows(b) {
			break
		}
		left -= e.plan.rows(b)
		e.out.lead++
		e.before += int64(len(b.lanes)) * int64(e.plan.spec.Periods)
	}
	if e.out.written = left; left > 0 && e.out.lead == len(e.plan.batches) {
		return fmt.Errorf("%s: %w: more rows than the Spec has", path, ErrResults)
	}
	return nil
}

// work advances the batches, some at a time.
func (e *engine) work(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan batch)
	go func() {
		defer close(queue)
		for _, b := range e.plan.batches[e.out.lead:] {
			select {
			case queue <- b:
			case <-ctx.Done():
				return
			}
		}
	}()
	var workers sync.WaitGroup
	for range min(e.opts.Workers, len(e.plan.batches)) {
		workers.Go(func() {
			for b := range queue {
				if err := e.advance(ctx, b); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	workers.Wait()
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return nil
	case errors.Is(cause, context.Canceled), errors.Is(cause, context.DeadlineExceeded):
		return ErrInterrupted
	default:
		return cause
	}
}

// advance runs a batch to the end, or until ctx ends: then it saves and returns ErrInterrupted.
func (e *engine) advance(ctx context.Context, b batch) error {
	c, err := loadCheckpoint(e.opts.Dir, b.number)
	if err != nil {
		return err
	}
	if len(c.Rows) == e.plan.rows(b) { // finished before, waiting for an earlier batch
		return e.finish(b, c.Rows)
	}
	p, err := e.program(b)
	if err != nil {
		return err
	}
	state, rows, err := e.begin(p, b, c)
	if err != nil {
		return err
	}
	done := p.periodOf(state)
	lastSave := time.Now()
	for _, stop := range Schedule(e.plan.spec.Periods) {
		for done < stop {
			if ctx.Err() != nil {
				return errors.Join(e.save(p, b, state, rows), ErrInterrupted)
			}
			next := min(stop, done+e.opts.Chunk)
			if state, err = p.until(state, next); err != nil {
				return err
			}
			e.computed.Add(int64(len(b.lanes)) * int64(next-done))
			done = next
			if done == stop {
				if rows, err = e.record(p, b, state, rows, done); err != nil {
					return err
				}
			}
			if time.Since(lastSave) > e.opts.Every && done < e.plan.spec.Periods {
				if err := e.save(p, b, state, rows); err != nil {
					return err
				}
				lastSave = time.Now()
			}
			e.report()
		}
	}
	if err := e.finish(b, rows); err != nil {
		return err
	}
	for _, t := range state {
		t.MustFinalizeAll()
	}
	return nil
}

// finish hands over the rows of a finished batch. While an earlier batch is not done they wait in a checkpoint.
func (e *engine) finish(b batch, rows []Row) error {
	if err := (checkpoint{Batch: b.number, Rows: rows}).save(e.opts.Dir); err != nil {
		return err
	}
	written, err := e.out.offer(b.number, rows, true)
	for _, number := range written {
		removeCheckpoint(e.opts.Dir, number)
	}
	return err
}

// begin returns a batch's state and rows at its checkpoint, or at period 0.
func (e *engine) begin(p *program, b batch, c checkpoint) ([]*tensors.Tensor, []Row, error) {
	state, err := p.initial(e.plan.seeds(b), e.plan.inputs(b))
	if err != nil || c.Nodes == nil {
		return state, nil, err
	}
	if !slices.Equal(c.Names, p.names) {
		return nil, nil, fmt.Errorf("checkpoint %s is of another program: remove it, and resume begins its runs anew", checkpointPath(e.opts.Dir, b.number))
	}
	state, err = saved.Tensors(c.Nodes)
	return state, c.Rows, err
}

// save writes the batch's checkpoint, and then the rows it has.
func (e *engine) save(p *program, b batch, state []*tensors.Tensor, rows []Row) error {
	nodes, err := saved.From(state)
	if err != nil {
		return err
	}
	if err := (checkpoint{Batch: b.number, Names: p.names, Nodes: nodes, Rows: rows}).save(e.opts.Dir); err != nil {
		return err
	}
	_, err = e.out.offer(b.number, slices.Clone(rows), false)
	return err
}

// record adds the rows of a period.
func (e *engine) record(p *program, b batch, state []*tensors.Tensor, rows []Row, period int) ([]Row, error) {
	regret, err1 := read[float64](p, state, stateRegret)
	digest, err2 := read[uint32](p, state, stateDigest)
	diverged, err3 := read[int32](p, state, stateDiverged)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	seeds := e.plan.seeds(b)
	for i, l := range b.lanes {
		rows = append(rows, Row{Entry: l.entry, Run: l.run, Seed: seeds[i], Period: period, Regret: Float(regret[i]), Diverged: int(diverged[i]), Digest: digest[i]})
	}
	return rows, nil
}

// program returns the compiled program of a batch's shape; the first to ask compiles it.
func (e *engine) program(b batch) (*program, error) {
	c := e.programs[b.shape]
	c.once.Do(func() {
		begin := time.Now()
		c.p, c.err = e.compile(b)
		e.compileTime.Add(int64(time.Since(begin)))
		e.mu.Lock()
		if e.started.IsZero() {
			e.started = time.Now()
		}
		e.mu.Unlock()
	})
	return c.p, c.err
}

func (e *engine) compile(b batch) (*program, error) {
	be, err := backend.Open(e.opts.Backend)
	if err != nil {
		return nil, err
	}
	env, agent := e.plan.shapes[b.shape].Setting.Build(e.plan.spec.Periods)
	inputs := e.plan.inputs(b)
	p, err := newProgram(be, env, agent, slices.Sorted(maps.Keys(inputs)))
	if err != nil {
		return nil, err
	}
	state, err := p.initial(e.plan.seeds(b), inputs)
	if err != nil {
		return nil, err
	}
	if p.loop { // compiles; advances by nothing
		_, err = p.until(state, 0)
	}
	return p, err
}

func (e *engine) progress() Progress {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := Progress{Computed: e.computed.Load(), Total: e.total, CompileTime: time.Duration(e.compileTime.Load())}
	p.Done = e.before + p.Computed
	if !e.started.IsZero() {
		p.Elapsed = time.Since(e.started)
		p.RunPeriodRate = float64(p.Computed) / p.Elapsed.Seconds()
	}
	return p
}

func (e *engine) report() {
	if e.opts.Progress != nil {
		e.opts.Progress(e.progress())
	}
}
