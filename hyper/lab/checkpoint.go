package lab

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"
)

// checkpoint is a batch of runs at a period: its State and the rows so far. GoMLX's checkpoints hold a model.Store;
// this State is not in one (see train.Optimizer), and must carry the rows that belong to it.
type checkpoint struct {
	Batch int
	Names []string
	Nodes []savedTensor
	Rows  []Row
}

type savedTensor struct {
	DType int32
	Dims  []int
	Data  []byte
}

func checkpointPath(dir string, batch int) string {
	return filepath.Join(dir, "checkpoints", fmt.Sprintf("batch-%06d", batch))
}

// save writes the checkpoint atomically: a kill leaves the old one or the new one.
func (c checkpoint) save(dir string) error {
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(c); err != nil {
		return err
	}
	sum := crc32.ChecksumIEEE(body.Bytes())
	body.Write([]byte{byte(sum), byte(sum >> 8), byte(sum >> 16), byte(sum >> 24)})
	if err := WriteFile(checkpointPath(dir, c.Batch), body.Bytes()); err != nil {
		return fmt.Errorf("writing a checkpoint: %w; what was written before is intact: free some space and resume", err)
	}
	return nil
}

// loadCheckpoint returns the checkpoint of a batch, or an empty one when there is none.
func loadCheckpoint(dir string, batch int) (c checkpoint, err error) {
	path := checkpointPath(dir, batch)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	broken := fmt.Errorf("checkpoint %s is damaged: remove it, and resume begins its runs anew", path)
	if len(text) < 4 {
		return c, broken
	}
	body, tail := text[:len(text)-4], text[len(text)-4:]
	sum := uint32(tail[0]) | uint32(tail[1])<<8 | uint32(tail[2])<<16 | uint32(tail[3])<<24
	if crc32.ChecksumIEEE(body) != sum || gob.NewDecoder(bytes.NewReader(body)).Decode(&c) != nil {
		return c, broken
	}
	return c, nil
}

// removeCheckpoint forgets the checkpoint of a finished batch.
func removeCheckpoint(dir string, batch int) { _ = os.Remove(checkpointPath(dir, batch)) }

// saved copies tensors for a checkpoint.
func saved(state []*tensors.Tensor) ([]savedTensor, error) {
	out := make([]savedTensor, len(state))
	for i, t := range state {
		out[i] = savedTensor{DType: int32(t.DType()), Dims: t.Shape().Dimensions}
		if err := t.ConstBytes(func(data []byte) { out[i].Data = bytes.Clone(data) }); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// restored makes tensors of a checkpoint's.
func restored(nodes []savedTensor) ([]*tensors.Tensor, error) {
	out := make([]*tensors.Tensor, len(nodes))
	for i, n := range nodes {
		out[i] = tensors.FromShape(shapes.Make(dtypes.DType(n.DType), n.Dims...))
		if err := out[i].MutableBytes(func(data []byte) { copy(data, n.Data) }); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// WriteFile writes a file atomically: under another name first, synced, then renamed.
func WriteFile(path string, data []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
