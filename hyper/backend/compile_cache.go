package backend

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/hypermodels/hypermodels/hyper/internal/compiled"
)

const (
	// CompileCacheLimit is the most bytes that the compile cache keeps. Above it, the programs go that were not used
	// for the longest time.
	CompileCacheLimit = 1 << 30

	// compileCacheWait is how long a process waits for another one that compiles the same program.
	compileCacheWait = 2 * time.Minute
)

// CompileCacheDir is the folder of the compile cache, or "" if it is off: $HYPER_COMPILE_CACHE, which is a folder or
// "off", or else "compiled" in [Home]. It is off where there is no Home.
func CompileCacheDir() string {
	switch dir := os.Getenv("HYPER_COMPILE_CACHE"); dir {
	case "":
		if home := Home(); home != "" {
			return filepath.Join(home, "compiled")
		}
		return ""
	case "off":
		return ""
	default:
		if abs, err := filepath.Abs(dir); err == nil {
			return abs
		}
		return dir
	}
}

// CompileCache is what the compile cache holds.
type CompileCache struct {
	Dir      string
	Programs int
	Bytes    int64
}

// ReadCompileCache looks into the compile cache, which must not be off. The error says why the folder cannot be used:
// it belongs to another user, say. Every process then compiles anew.
func ReadCompileCache() (CompileCache, error) {
	c, err := openCompileCache()
	if err != nil {
		return CompileCache{Dir: CompileCacheDir()}, err
	}
	programs, bytes := c.Content()
	return CompileCache{c.Dir, programs, bytes}, nil
}

// ClearCompileCache removes all programs of the compile cache and says whether there was one.
func ClearCompileCache() (bool, error) {
	if _, err := os.Lstat(CompileCacheDir()); err != nil { // off, or not there
		return false, nil
	}
	c, err := openCompileCache()
	if err != nil {
		return false, err
	}
	return true, errors.Join(os.RemoveAll(PluginHashDir()), c.Clear())
}

func openCompileCache() (*compiled.Cache, error) {
	return compiled.Open(CompileCacheDir(), CompileCacheLimit, compileCacheWait)
}

// Compiling counts the programs that a backend was asked for in this process.
type Compiling struct {
	Compiled int // by XLA
	Loaded   int // from the compile cache
	Waited   int // for another process that compiled the same program
	Replaced int // files of the cache that were damaged or foreign, and were not used
}
