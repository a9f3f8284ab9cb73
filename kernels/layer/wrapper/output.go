package wrapper

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"

	"github.com/hypermodels/hypermodels/kernels/internal/posix"
	"github.com/hypermodels/hypermodels/kernels/layer/cells"
)

// output is the standard output of a command, which is passed on to GoNB.
type output struct {
	write *os.File // the end of the pipe that the command writes to
	done  chan struct{}
}

// startOutput starts to pass on output. errors is the filter of a Go program's standard error, or nil.
func startOutput(errors *filter) (*output, error) {
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
		whole := &runes{to: os.Stdout}
		var to io.Writer = whole
		if errors != nil {
			to = testOutput{whole, errors.at}
		}
		_, _ = io.Copy(to, read)
		whole.finish()
	}()
	return o, nil
}

// finish waits until GoNB has received everything that the command and its children have printed.
func (o *output) finish() {
	o.write.Close()
	<-o.done
}

// testOutput passes on the output of tests, with cells and lines in place of positions in the program's file.
type testOutput struct {
	to io.Writer
	at []cells.Place // where each line of the file comes from
}

// testLine matches the position in a line that a test prints.
var testLine = regexp.MustCompile(`(?m)^ +main_test\.go:\d+: `)

func (t testOutput) Write(p []byte) (int, error) {
	text := testLine.ReplaceAllFunc(p, func(found []byte) []byte {
		before, rest, _ := bytes.Cut(found, []byte("main_test.go:"))
		number, _ := strconv.Atoi(string(bytes.TrimSuffix(rest, []byte(": "))))
		if number < 1 || number > len(t.at) || t.at[number-1].Line == 0 {
			return found
		}
		return fmt.Appendf(nil, "%s%v: ", before, t.at[number-1])
	})
	_, err := t.to.Write(text)
	return len(p), err
}
