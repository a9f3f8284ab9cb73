package agent

import (
	"fmt"
	"io"
	"os"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/hypermodels/hypermodels/hyper/internal/saved"
)

// Write writes what Save does to a writer, such as an object store's. What a failed Write has written is no agent: [Read]
// refuses it.
func (a *Agent) Write(w io.Writer) error {
	err := a.save(func(f file, state []*tensors.Tensor) error { return saved.WriteTo(w, f, state) })
	if err != nil {
		return fmt.Errorf("writing an agent: %w", err)
	}
	return nil
}

// Read returns the agent that Write or Save wrote, as [Load] does from a file. It keeps what it reads in a temporary file
// first, since nothing of it is believed before its checksum is seen. The error is that of Load, or of the reader.
func Read(c Config, r io.Reader) (*Agent, error) {
	f, err := os.CreateTemp("", "hypermodels-agent-*")
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	if _, err := io.Copy(f, r); err != nil {
		return nil, fmt.Errorf("reading an agent: %w", err)
	}
	return loaded(c, f.Name(), "reading an agent")
}
