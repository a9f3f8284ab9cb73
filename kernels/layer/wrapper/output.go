package wrapper

import (
	"io"
	"os"

	"github.com/hypermodels/hypermodels/kernels/internal/posix"
)

// output is the standard output of a command, which is passed on to GoNB.
type output struct {
	write *os.File // the end of the pipe that the command writes to
	done  chan struct{}
}

func startOutput() (*output, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	for _, pipe := range []*os.File{os.Stdout, os.Stderr} {
		if info, err := pipe.Stat(); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
			posix.PacketMode(pipe)
		}
	}
	o := &output{write, make(chan struct{})}
	go func() {
		defer close(o.done)
		defer read.Close()
		to := &runes{to: os.Stdout}
		_, _ = io.Copy(to, read)
		to.finish()
	}()
	return o, nil
}

// finish waits until GoNB has received everything that the command and its children have printed.
func (o *output) finish() {
	o.write.Close()
	<-o.done
}
