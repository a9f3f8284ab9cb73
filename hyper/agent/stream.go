package agent

import (
	"fmt"
	"io"
	"os"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/hypermodels/hypermodels/hyper/internal/saved"
)

// Write writes to w the bytes that Save writes to a file. w can be, for example, a writer to an object store. If Write
// fails, [Read] refuses the part that was written.
func (a *Agent) Write(w io.Writer) error {
	err := a.save(func(f file, state []*tensors.Tensor) error { return saved.WriteTo(w, f, state) })
	if err != nil {
		return fmt.Errorf("writing an agent: %w", err)
	}
	return nil
}

// Read returns the agent that Write or Save wrote, as [Load] does from a file. Read first copies its input to a
// temporary file, because it must check the checksum at the end before it uses any part. The error is an error of Load,
// or of the reader.
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
