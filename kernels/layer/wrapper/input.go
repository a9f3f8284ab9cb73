package wrapper

import (
	"encoding/json"
	"io"
	"os"
	"time"

	"github.com/hypermodels/hypermodels/hyper/notebook/frontend"
)

// asking is the standard input of a command of a cell. When a process waits for input, the user is asked for a line.
// The input ends if the client answers no questions, or if the system cannot show which processes wait, see [waits].
type asking struct {
	read, write *os.File
	over        chan struct{} // closed when the command has ended
}

func newInput() (in *asking, err error) {
	in = &asking{over: make(chan struct{})}
	in.read, in.write, err = os.Pipe()
	return in, err
}

// inputLook returns the delay before the n-th check for waiting processes. The first delays are short, because most
// programs that read do so at once.
func inputLook(n int) time.Duration {
	if n < 40 {
		return 25 * time.Millisecond
	}
	return 200 * time.Millisecond
}

// inputPatience is the number of consecutive checks that must find a waiting process. A program that asks through GoNB
// waits before GoNB asks.
const inputPatience = 4

// serve answers the processes of a command's group until the command ends. It also copies to the input the text that
// GoNB writes when the program asks through GoNB.
func (in *asking) serve(group int, gonb io.Reader) {
	in.read.Close()
	defer in.write.Close()
	go func() { _, _ = io.Copy(in.write, gonb) }()
	for n, waited := 0, 0; ; n++ {
		select {
		case <-in.over:
			return
		case <-time.After(inputLook(n)):
		}
		waiting, err := waits(group, in.write)
		if err != nil {
			return
		}
		if waited++; !waiting {
			waited = 0
		}
		if waited < inputPatience {
			continue
		}
		n, waited = 0, 0
		a := askUser()
		if a.Wait {
			continue
		}
		if a.End {
			return
		}
		if _, err := in.write.WriteString(a.Value + "\n"); err != nil {
			return
		}
	}
}

// finish is called when the command has ended.
func (in *asking) finish() { close(in.over) }

// Types of the messages between a wrapper and the kernel about a line of input.
const (
	InputRequest = "input_request"
	InputReply   = "input_reply"
)

// InputAnswer is the kernel's answer: a line, or the end of the input.
type InputAnswer struct {
	Value string `json:"value"`
	End   bool   `json:"end,omitempty"`
	Wait  bool   `json:"wait,omitempty"` // GoNB is already asking the user, and writes the answer
}

// askUser asks the user for a line.
func askUser() InputAnswer {
	c, err := frontend.Open()
	if err != nil {
		return InputAnswer{End: true}
	}
	defer c.Close()
	answers := make(chan InputAnswer, 1)
	c.Hear(InputReply, func(content json.RawMessage) {
		var a InputAnswer
		if json.Unmarshal(content, &a) != nil {
			a.End = true
		}
		select {
		case answers <- a:
		default:
		}
	})
	question := frontend.Message{Type: InputRequest, Content: json.RawMessage(`{"prompt":"","password":false}`)}
	if c.Send(question) != nil {
		return InputAnswer{End: true}
	}
	select {
	case a := <-answers:
		return a
	case <-c.Gone():
		return InputAnswer{End: true}
	}
}
