package layer

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// A page that closes a notebook loses the later output of its cells. The kernel keeps a transcript of each execution
// until a page reports that it has saved the notebook with the output. A page that opens the notebook later requests
// the transcripts.

// transcript holds the output of an execution of a cell.
type transcript struct {
	Request string `json:"request"` // id of the message that requested the execution
	Session string `json:"session"` // session of the client that requested the execution
	Cell    string `json:"cell"`
	Count   int    `json:"count"` // 0 until the execution begins
	Done    bool   `json:"done"`

	outputs []record
	clear   bool // remove the outputs when the next output arrives
	size    int  // bytes of the outputs
	lost    int  // bytes of outputs that were removed to save memory
}

// record is an output: a message of the iopub channel.
type record struct {
	Type    string          `json:"type"`
	Content json.RawMessage `json:"content"`

	stream string // the name of a stream, if the output is text
	text   []byte // the text of the stream
	id     string // the display_id
}

// Limits in bytes, and in number of transcripts. The oldest outputs are removed first. A page receives a transcript in
// one message: Jupyter's server drops messages of more than 3 MB in 3 seconds.
const (
	mostOfTranscript   = 1 << 20
	mostOfTranscripts  = 32 << 20
	mostTranscripts    = 1000
	transcriptOverhead = 100 // of an output
)

// transcripts holds the transcripts of executions that no saved notebook contains, from old to new.
type transcripts struct {
	mu  sync.Mutex
	all []*transcript
}

// expect stores that a client has requested the execution of a cell.
func (t *transcripts) expect(m message) {
	cell := cellOf(m)
	if cell == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = slices.DeleteFunc(t.all, func(s *transcript) bool { return s.Cell == cell && s.Done })
	t.all = append(t.all, &transcript{Request: m.head.ID, Session: m.head.Session, Cell: cell})
	t.trim()
}

// begin stores that an execution begins, with number count.
func (t *transcripts) begin(request string, count int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.find(request); s != nil {
		s.Count = count
	}
}

// forget removes the transcripts of executions.
func (t *transcripts) forget(requests ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = slices.DeleteFunc(t.all, func(s *transcript) bool { return slices.Contains(requests, s.Request) })
}

// find returns the transcript of a request, or nil. The caller holds the lock.
func (t *transcripts) find(request string) *transcript {
	for _, s := range t.all {
		if s.Request == request {
			return s
		}
	}
	return nil
}

// send adds a message to its transcript, and sends it.
func (t *transcripts) send(m message, send func(message) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.find(m.parent.ID); s != nil && !s.Done {
		s.add(m)
		t.trim()
	}
	return send(m)
}

// trim removes the oldest transcripts of ended executions until all together are within the limits.
func (t *transcripts) trim() {
	size, number := 0, len(t.all)
	for _, s := range t.all {
		size += s.size
	}
	if number <= mostTranscripts && size <= mostOfTranscripts {
		return
	}
	t.all = slices.DeleteFunc(t.all, func(s *transcript) bool {
		goes := s.Done && (number > mostTranscripts || size > mostOfTranscripts)
		if goes {
			number, size = number-1, size-s.size
		}
		return goes
	})
}

// add adds a message of the execution.
func (s *transcript) add(m message) {
	var c struct {
		Name, Text string
		State      string `json:"execution_state"`
		Wait       bool
		Transient  struct {
			ID string `json:"display_id"`
		}
	}
	if m.read(&c) != nil {
		return
	}
	switch m.head.Type {
	case "status":
		s.Done = c.State == "idle"
	case "clear_output":
		if s.clear = c.Wait; !c.Wait {
			s.empty()
		}
	case "update_display_data":
		for i, o := range s.outputs {
			if c.Transient.ID != "" && o.id == c.Transient.ID {
				s.size += len(m.content) - len(o.Content)
				s.outputs[i].Content = m.content
			}
		}
	case "stream":
		s.put(record{Type: m.head.Type, stream: c.Name, text: []byte(c.Text)})
	case "display_data", "execute_result", "error":
		s.put(record{Type: m.head.Type, Content: m.content, id: c.Transient.ID})
	}
}

func (s *transcript) empty() { s.outputs, s.clear, s.size = nil, false, 0 }

// put adds an output. Consecutive text of the same stream is joined.
func (s *transcript) put(o record) {
	if s.clear {
		s.empty()
	}
	if last := len(s.outputs) - 1; o.stream != "" && last >= 0 && s.outputs[last].stream == o.stream {
		s.outputs[last].text = append(s.outputs[last].text, o.text...)
	} else {
		s.outputs, s.size = append(s.outputs, o), s.size+transcriptOverhead
	}
	s.size += len(o.Content) + len(o.text)
	for s.size > mostOfTranscript {
		s.drop(s.size - mostOfTranscript)
	}
}

// drop removes the oldest output, or the beginning of a long text. It removes at least the given number of bytes and a
// quarter of the limit, so that a text is not copied for each new piece.
func (s *transcript) drop(bytes int) {
	first, lost := &s.outputs[0], 0
	if n := max(bytes, mostOfTranscript/4); len(first.text) > n {
		first.text, lost = slices.Clone(first.text[n:]), n
	} else {
		lost = len(first.text) + len(first.Content) + transcriptOverhead
		s.outputs = s.outputs[1:]
	}
	s.lost, s.size = s.lost+lost, s.size-lost
}

// shown returns the outputs in the form that a page needs.
func (s *transcript) shown() []record {
	out := []record{}
	if s.lost > 0 {
		out = append(out, streamed("stderr", fmt.Sprintf("[the first %.1f MB of the output were removed while the "+
			"notebook was closed]\n", float64(s.lost)/1e6)))
	}
	for _, o := range s.outputs {
		if o.stream != "" {
			o = streamed(o.stream, string(o.text))
		}
		out = append(out, o)
	}
	return out
}

func streamed(name, text string) record {
	return record{Type: "stream", Content: mustJSON(map[string]string{"name": name, "text": text})}
}

// cellsTarget is the target of the comms by which pages ask for transcripts. A page opens a comm with one of these
// data:
//
//	{}                      list the transcripts            answer: {"cells": [...]}
//	{"take": REQUEST}       get the output of a request     answer: {"done": ..., "count": ..., "outputs": [...]}, or {}
//	{"saved": [REQUEST]}    the notebook is saved with the output of these requests
//
// The kernel closes the comm after its answer.
const cellsTarget = "hypermodels.cells"

// answerPage answers a page's question about transcripts.
func (k *kernel) answerPage(m message, comm string, data json.RawMessage) {
	var ask struct {
		Take  string
		Saved []string
	}
	_ = json.Unmarshal(data, &ask)
	t := &k.transcripts
	if ask.Saved != nil {
		t.forget(ask.Saved...)
	} else {
		t.mu.Lock() // Later outputs must be sent after the answer.
		out := m.answer(k.session, "comm_msg", map[string]any{"comm_id": comm, "data": t.answer(ask.Take)})
		out.route = [][]byte{[]byte(out.head.Type)}
		k.front.iopub.send(out)
		t.mu.Unlock()
	}
	k.publish(m, "comm_close", map[string]any{"comm_id": comm, "data": struct{}{}})
}

// answer returns the answer to a page's question. The caller holds the lock.
func (t *transcripts) answer(take string) map[string]any {
	if take == "" {
		all := t.all
		if all == nil {
			all = []*transcript{}
		}
		return map[string]any{"cells": all}
	}
	s := t.find(take)
	if s == nil {
		return map[string]any{}
	}
	return map[string]any{"done": s.Done, "count": s.Count, "outputs": s.shown()}
}
