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

// Keep computes a value once. A later call with the same name, in another cell or in a later kernel, returns the same
// value without a computation. A cell is a program, and its variables end with it; Keep preserves values that take long
// to compute.
//
//	rows := must.M1(notebook.Keep("rows", func() ([]lab.Row, error) { return simulate(20) }))
//
// The value is computed again when the code that makes it has changed: the function, the code of the cells that the
// function uses (functions, types, constants, and earlier statements that set its variables), or one of the inputs. All
// else that the value depends on, such as the content of a file or its modification time, should be an input. Inputs
// are compared by their bytes (encoding/gob). Loop variables and parameters must be inputs; the error names a missing
// one. Keep does not notice changes of libraries: `%kept --remove NAME` removes a value, and `%kept` lists all.
//
// The value must be one that encoding/gob can encode, or a tensor. For values with a file format of their own, such as
// an agent, there is [KeepFile]. Values are stored outside the notebook's folder, for all notebooks of the folder,
// until they are removed. The error comes from the function, or says why the value could not be stored.
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

// KeepFile is like Keep for a value with its own file format. load reads a file that the value's Save has written.
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
		fmt.Fprintf(os.Stderr, "the kept value %s cannot be read and is computed again: %v\n", name, err)
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

// keyOf returns the key of the value that the caller of Keep or KeepFile computes.
func keyOf(e kept.Entry, inputs []any) (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q\n", e.Name, e.Type)
	const caller = 3 // skips keyOf, keep, and Keep or KeepFile
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
