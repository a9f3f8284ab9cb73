package notebook

import (
	"crypto/sha256"
	"encoding/gob"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"time"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/hypermodels/hypermodels/hyper/notebook/kept"
)

// Keep computes a value once: the next call with the same name, in a later cell or by a later kernel, is handed the
// value. A cell is a program, whose variables end with it; a value that takes minutes need not.
//
//	rows := must.M1(notebook.Keep("rows", func() ([]lab.Row, error) { return simulate(20) }))
//
// The value is computed anew when the code that makes it has changed: the function, what it uses of the cells
// (functions, types, constants, and the statements before it that set its variables), or one of the inputs. What else
// it depends on, such as a file's content or a time of change, should be among the inputs, which are compared by their
// bytes (encoding/gob); the variable of a loop and a parameter must be, and the error names one that is not. A change
// of a library is not seen; `%kept --remove NAME` removes the value, `%kept` lists all.
//
// The value is one that encoding/gob takes, or a tensor. What has a file format of its own, such as an agent, is for
// [KeepFile]. Values are kept for the notebooks of a folder, outside of it, until they are removed. The error is that
// of the function, or says why the value could not be kept.
func Keep[T any](name string, compute func() (T, error), inputs ...any) (T, error) {
	if _, ok := any(*new(T)).(*tensors.Tensor); ok {
		load := func(path string) (T, error) {
			t, err := tensors.Load(path)
			v, _ := any(t).(T)
			return v, err
		}
		save := func(v T, path string) error { return any(v).(*tensors.Tensor).Save(path) }
		return keep(name, load, save, compute, inputs)
	}
	return keep(name, fromGob[T], toGob[T], compute, inputs)
}

// Saver is a value that writes itself to a file, such as an agent or a tensor.
type Saver interface{ Save(path string) error }

// KeepFile is Keep of a value that has its own file format. load reads what the value's Save wrote.
//
//	a := must.M1(notebook.KeepFile("agent", func(path string) (*agent.Agent, error) { return agent.Load(c, path) },
//		func() (*agent.Agent, error) { return trained(c) }))
func KeepFile[T Saver](name string, load func(path string) (T, error), compute func() (T, error), inputs ...any) (T,
	error) {
	return keep(name, load, T.Save, compute, inputs)
}

func keep[T any](name string, load func(string) (T, error), save func(T, string) error, compute func() (T, error),
	inputs []any) (v T, err error) {
	folder, err := kept.Of(".")
	if err != nil {
		return v, err
	}
	e := kept.Entry{Name: name, Type: reflect.TypeFor[T]().String()}
	if e.Key, err = keyOf(e, inputs); err != nil {
		return v, fmt.Errorf("keeping %s: %w", name, err)
	}
	if found, path, ok := folder.Find(name); ok && found.Key == e.Key {
		if v, err = load(path); err == nil {
			return v, nil
		}
		fmt.Fprintf(os.Stderr, "the kept value %s cannot be read and is computed anew: %v\n", name, err)
	}
	began := time.Now()
	if v, err = compute(); err != nil {
		return v, err
	}
	e.Made, e.Seconds = time.Now(), time.Since(began).Seconds()
	if err := folder.Put(e, func(path string) error { return save(v, path) }); err != nil {
		return v, fmt.Errorf("keeping %s: %w", name, err)
	}
	return v, nil
}

// keyOf is the key of a value that the caller of Keep or KeepFile makes.
func keyOf(e kept.Entry, inputs []any) (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q\n", e.Name, e.Type)
	const caller = 3 // of keyOf, keep, and Keep or KeepFile
	if _, file, line, ok := runtime.Caller(caller); ok {
		if err := writeCode(sum, file, line); err != nil {
			return "", err
		}
	}
	for i, in := range inputs {
		fmt.Fprintf(sum, "\ninput %d %T\n", i, in)
		if err := gob.NewEncoder(sum).Encode(in); err != nil {
			return "", fmt.Errorf("input %d: %w", i+1, err)
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}

func fromGob[T any](path string) (v T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return v, err
	}
	defer func() { _ = f.Close() }()
	return v, gob.NewDecoder(f).Decode(&v)
}

func toGob[T any](v T, path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = gob.NewEncoder(f).Encode(&v)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
