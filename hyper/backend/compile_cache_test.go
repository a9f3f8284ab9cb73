package backend_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// The tests run this program again, as other processes that use the compile cache.
func TestMain(m *testing.M) {
	if os.Getenv("HYPER_TEST_CHILD") != "" {
		must.M(json.NewEncoder(os.Stdout).Encode(child()))
		return
	}
	dir, err := os.MkdirTemp("", "compile-cache")
	if err == nil {
		err = os.Setenv("HYPER_COMPILE_CACHE", filepath.Join(dir, "compiled"))
	}
	if err != nil {
		panic(err)
	}
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// report is what a process reports about itself.
type report struct {
	Counts  backend.Compiling
	Why     string // the reason if nothing is cached
	Results []float32
	Memory  []int64
}

const programs = 5

func child() (r report) {
	for i := range programs {
		result, memory := must.M2(run(float64(i)))
		r.Results, r.Memory = append(r.Results, result), append(r.Memory, memory)
	}
	var err error
	if r.Counts, err = backend.CompilingOf(backend.XLACPU); err != nil {
		r.Why = err.Error()
	}
	return r
}

// run compiles a program that contains a number, and runs it.
func run(number float64) (result float32, memory int64, err error) {
	b, err := backend.Open(backend.XLACPU)
	if err != nil {
		return 0, 0, err
	}
	program, err := NewExec(b, func(x *Node) *Node {
		return ReduceAllSum(AddScalar(MatMul(x, Transpose(x, 0, 1)),
			number))
	})
	if err != nil {
		return 0, 0, err
	}
	out, graph, err := program.CallWithGraph([][]float32{{1, 2}, {3, 4}})
	if err != nil {
		return 0, 0, err
	}
	return out[0].Value().(float32), backend.Memory(graph.Executable()), nil
}

// want is the result of run: the entries of x x^T, 5 + 11 + 11 + 25, and four times the number.
func want(number float64) float32 { return float32(52 + 4*number) }

func wants() (out []float32) {
	for i := range programs {
		out = append(out, want(float64(i)))
	}
	return out
}

func needXLA(t *testing.T) {
	t.Helper()
	if err := backend.Check(backend.XLACPU); err != nil {
		t.Skip(err)
	}
}

// process runs child with a cache and additional environment variables.
func process(dir string, environment ...string) (r report, err error) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append([]string{"HYPER_TEST_CHILD=1", "HYPER_COMPILE_CACHE=" + dir}, environment...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return r, fmt.Errorf("%w: %s", err, stderr.String())
	}
	return r, json.Unmarshal(out, &r)
}

func mustProcess(t *testing.T, dir string, environment ...string) report {
	t.Helper()
	r := must.M1(process(dir, environment...))
	if !reflect.DeepEqual(r.Results, wants()) {
		t.Errorf("results %v, want %v", r.Results, wants())
	}
	return r
}

func TestSecondProcessCompilesNothing(t *testing.T) {
	needXLA(t)
	dir := filepath.Join(t.TempDir(), "compiled")
	first, second := mustProcess(t, dir), mustProcess(t, dir)
	if want := (backend.Compiling{Compiled: programs}); first.Counts != want || first.Why != "" {
		t.Errorf("first process: got %+v, %s, want all programs compiled", first.Counts, first.Why)
	}
	if want := (backend.Compiling{Loaded: programs}); second.Counts != want || second.Why != "" {
		t.Errorf("second process: got %+v, %s, want all programs loaded", second.Counts, second.Why)
	}
	if !reflect.DeepEqual(first.Memory, second.Memory) {
		t.Errorf("got memory %v, and %v for the same programs from the cache, want equal numbers",
			first.Memory, second.Memory)
	}
	// XLA divides work by the number of processors, which NPROC overrides. A program for another number is therefore a
	// different program, as on another processor.
	if other := mustProcess(t, dir, "NPROC=7"); other.Counts.Compiled != programs {
		t.Errorf("other number of processors: got %+v, want all programs compiled again", other.Counts)
	}
}

func TestFiveProcessesAtOnceCompileEachProgramOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("starts five processes")
	}
	needXLA(t)
	dir := filepath.Join(t.TempDir(), "compiled")
	var all sync.WaitGroup
	reports, errs := make([]report, 5), make([]error, 5)
	for i := range reports {
		all.Go(func() { reports[i], errs[i] = process(dir) })
	}
	all.Wait()
	must.M(errors.Join(errs...))
	compiled, loaded := 0, 0
	for i, r := range reports {
		compiled, loaded = compiled+r.Counts.Compiled, loaded+r.Counts.Loaded
		if !reflect.DeepEqual(r.Results, wants()) || r.Counts.Replaced > 0 {
			t.Errorf("process %d: got results %v, counts %+v", i, r.Results, r.Counts)
		}
	}
	if compiled != programs || loaded != 4*programs {
		t.Errorf("5 processes made %d compilations and %d loads of %d programs", compiled, loaded, programs)
	}
}

func TestWithoutACacheProgramsAreCompiled(t *testing.T) {
	needXLA(t)
	if r := mustProcess(t, "off"); !strings.Contains(r.Why, "off") {
		t.Errorf("HYPER_COMPILE_CACHE=off: got %+v, want off as the reason", r)
	}
	foreign := filepath.Join(t.TempDir(), "compiled")
	must.M(os.Mkdir(foreign, 0o755))
	if err := os.Chown(foreign, 12345, -1); err != nil {
		t.Skip("only root can give a folder to another user")
	}
	if r := mustProcess(t, foreign); !strings.Contains(r.Why, "another user") {
		t.Errorf("folder of another user: got %+v, want that as the reason", r)
	}
	if left, err := os.ReadDir(foreign); err != nil || len(left) > 0 {
		t.Errorf("the folder of another user has the files %v, error %v, want none", left, err)
	}
}

// A plugin without PJRT_Executable_Serialize: the real plugin, without this entry in its table.
const mute = `
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
void* GetPjrtApi(void) {
  void* library = dlopen(REAL, RTLD_LAZY | RTLD_LOCAL);
  size_t* real = ((size_t* (*)(void))dlsym(library, "GetPjrtApi"))();
  void** copy = malloc(real[0]);
  memcpy(copy, real, real[0]);
  copy[5 + 49] = NULL; /* see hyper/internal/pjrt/abi.h */
  return copy;
}`

func TestPluginThatCannotSerialiseCompiles(t *testing.T) {
	needXLA(t)
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "mute.c")
	must.M(os.WriteFile(source, []byte(mute), 0o600))
	build := exec.Command(compiler, "-shared", "-fPIC", fmt.Sprintf("-DREAL=%q", backend.PluginPath("cpu")), "-o",
		filepath.Join(dir, backend.PluginFile("cpu")), source, "-ldl")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cannot build the plugin: %v\n%s", err, out)
	}
	r := mustProcess(t, filepath.Join(dir, "compiled"), "PJRT_PLUGIN_LIBRARY_PATH="+dir)
	if !strings.Contains(r.Why, "cannot serialise") {
		t.Errorf("got %+v, want a reason about serialisation", r)
	}
}

// Whatever happens to its files, a process computes the right result and repairs the files. HYPER_DAMAGED=1000 tests
// more damages, in minutes.
func TestDamagedPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many programs")
	}
	needXLA(t)
	times := 8
	if text := os.Getenv("HYPER_DAMAGED"); text != "" {
		must.M1(fmt.Sscan(text, &times))
	}
	cache := os.Getenv("HYPER_COMPILE_CACHE")
	random := rand.New(rand.NewPCG(1, 2))
	check := func(number float64) {
		t.Helper()
		if got, _, err := run(number); err != nil || got != want(number) {
			t.Fatalf("program %v: %v, %v, want %v", number, got, err, want(number))
		}
	}
	made := make([]string, times)
	known := map[string]bool{}
	for i := range made {
		check(float64(1000 + i))
		made[i] = fresh(t, cache, known)
	}
	whole := make([][]byte, times)
	for i, path := range made {
		whole[i] = must.M1(os.ReadFile(path))
	}
	for _, path := range made {
		must.M(damage(path, whole[random.IntN(times)], random))
	}
	before := must.M1(backend.CompilingOf(backend.XLACPU))
	for i := range made {
		check(float64(1000 + i))
	}
	after := must.M1(backend.CompilingOf(backend.XLACPU))
	if n := after.Compiled - before.Compiled; n != times || after.Loaded != before.Loaded {
		t.Errorf("%d of %d damaged programs were compiled, %d loaded", n, times, after.Loaded-before.Loaded)
	}
	for i := range made {
		check(float64(1000 + i))
	}
	if last, err := backend.CompilingOf(backend.XLACPU); err != nil || last.Loaded-after.Loaded != times {
		t.Errorf("%d of %d programs were loaded after the repair (error %v)", last.Loaded-after.Loaded, times, err)
	}
}

// fresh returns the one file of the cache that is not known yet.
func fresh(t *testing.T, cache string, known map[string]bool) string {
	t.Helper()
	paths := must.M1(filepath.Glob(filepath.Join(cache, "*")))
	for _, path := range paths {
		if !known[path] {
			known[path] = true
			return path
		}
	}
	t.Fatal("the cache has no new file")
	return ""
}

// damage damages a file in one of five ways.
func damage(path string, other []byte, random *rand.Rand) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	switch random.IntN(5) {
	case 0:
		b[random.IntN(len(b))] ^= 1 << random.IntN(8)
	case 1:
		b = b[:random.IntN(len(b))]
	case 2: // of another program, or with the key of another processor
		if b = other; bytes.Equal(b, other) {
			b = append(bytes.Clone(other[:8]), append(make([]byte, 32), other[40:]...)...)
		}
	case 3:
		if os.Chown(path, 12345, -1) == nil {
			return nil
		}
		return os.Chmod(path, 0o666)
	default:
		return os.Chmod(path, 0o622)
	}
	return os.WriteFile(path, b, 0o600)
}
