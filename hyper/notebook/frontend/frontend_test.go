package frontend

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/janpfeifer/must"
)

// kernel simulates a kernel: it accepts one connection, and returns the messages of type Sync.
func kernel(t *testing.T) (heard chan Message, say func(Message), hangUp func()) {
	dir := must.M1(os.MkdirTemp("", "f")) // The path of a socket must be short.
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "f")
	l := must.M1(net.Listen("unix", path))
	t.Cleanup(func() { l.Close() })
	t.Setenv(Var, path)
	heard = make(chan Message, 100)
	conns := make(chan net.Conn, 1)
	write := func(c net.Conn, m Message) { c.Write(append(must.M1(json.Marshal(m)), '\n')) }
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		conns <- c
		for lines := bufio.NewScanner(c); lines.Scan(); {
			var m Message
			must.M(json.Unmarshal(lines.Bytes(), &m))
			if m.Type == Sync {
				write(c, m)
			}
			heard <- m
		}
		close(heard)
	}()
	var conn net.Conn
	of := func() net.Conn {
		if conn == nil {
			conn = <-conns
		}
		return conn
	}
	return heard, func(m Message) { write(of(), m) }, func() { of().Close() }
}

func TestDisplay(t *testing.T) {
	heard, _, _ := kernel(t)
	c := must.M1(Open())
	must.M(c.Display("", map[string]any{"image/png": []byte("abc")}))
	must.M(c.Display("x", map[string]any{"text/html": "1"}))
	must.M(c.Update("x", map[string]any{"text/html": "2"}))
	must.M(c.Close())
	for _, want := range []string{
		`display_data {"data":{"image/png":"YWJj"},"metadata":{},"transient":{}}`,
		`display_data {"data":{"text/html":"1"},"metadata":{},"transient":{"display_id":"x"}}`,
		`update_display_data {"data":{"text/html":"2"},"metadata":{},"transient":{"display_id":"x"}}`,
		"sync ",
	} {
		if m := <-heard; m.Type+" "+string(m.Content) != want {
			t.Errorf("got %s %s, want %s", m.Type, m.Content, want)
		}
	}
	if _, more := <-heard; more {
		t.Error("got a message after the end")
	}
}

func TestComm(t *testing.T) {
	heard, say, hangUp := kernel(t)
	c := must.M1(Open())
	got, closed := make(chan string, 10), make(chan bool, 1)
	comm := must.M1(c.Comm("widget", map[string]any{"a": 1}, map[string]any{"version": "2"},
		func(d json.RawMessage) { got <- string(d) }, func() { closed <- true }))
	if m := <-heard; m.Type != "comm_open" || string(m.Metadata) != `{"version":"2"}` ||
		string(m.Content) != `{"comm_id":"`+comm.ID+`","data":{"a":1},"target_name":"widget"}` {
		t.Errorf("got message %s %s %s, want comm_open", m.Type, m.Content, m.Metadata)
	}
	must.M(comm.Send([]int{1}))
	if m := <-heard; m.Type != "comm_msg" || string(m.Content) != `{"comm_id":"`+comm.ID+`","data":[1]}` {
		t.Errorf("got message %s %s, want comm_msg with [1]", m.Type, m.Content)
	}
	to := func(kind, id, data string) Message {
		return Message{Type: kind, Content: json.RawMessage(fmt.Sprintf(`{"comm_id":%q,"data":%s}`, id, data))}
	}
	say(to("comm_msg", "another", "1"))
	say(to("comm_msg", comm.ID, "2"))
	say(to("comm_close", comm.ID, "{}"))
	say(to("comm_msg", comm.ID, "3"))
	<-closed
	hangUp()
	<-c.Gone()
	if len(got) != 1 || <-got != "2" {
		t.Error("the comm got other messages than its own")
	}
	if err := c.Close(); !errors.Is(err, io.ErrUnexpectedEOF) && err == nil {
		t.Error("kernel that has ended: got no error")
	}
}

func TestOpenWithoutAKernel(t *testing.T) {
	t.Setenv(Var, "")
	if _, err := Open(); !errors.Is(err, ErrNone) {
		t.Errorf("Open without a front end: got error %v, want ErrNone", err)
	}
	t.Setenv(Var, t.TempDir()+"/nobody")
	if _, err := Open(); err == nil || errors.Is(err, ErrNone) {
		t.Errorf("missing socket: got error %v, want one other than ErrNone", err)
	}
}

// A program that a cell has started shows a picture; elsewhere the program continues without it.
func ExampleOpen() {
	c, err := Open()
	if errors.Is(err, ErrNone) {
		fmt.Println("not in a notebook")
		return
	}
	must.M(err)
	must.M(c.Display("", map[string]any{"text/markdown": "**done**"}))
	must.M(c.Close())
	// Output: not in a notebook
}
