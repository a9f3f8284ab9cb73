package layer

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/janpfeifer/must"
)

// header identifies a message.
type header struct {
	ID       string `json:"msg_id"`
	Username string `json:"username"`
	Session  string `json:"session"`
	Type     string `json:"msg_type"`
	Version  string `json:"version"`
	Date     string `json:"date"`
}

// message is a Jupyter message. Parts that the layer does not change are kept unparsed.
type message struct {
	route    [][]byte // ids of the peers on its way, or the topic
	head     header
	parent   header // header of the request that it belongs to; zero for a request
	rawHead  json.RawMessage
	rawUp    json.RawMessage // the parent's header
	metadata json.RawMessage
	content  json.RawMessage
	buffers  [][]byte
}

var delimiter = []byte("<IDS|MSG>")

var (
	errMalformed = errors.New("malformed message")
	errSignature = errors.New("wrong signature")
)

// signer is the key of a connection. An empty key signs nothing.
type signer []byte

func (s signer) sign(parts [][]byte) []byte {
	if len(s) == 0 {
		return nil
	}
	mac := hmac.New(sha256.New, s)
	for _, p := range parts {
		mac.Write(p)
	}
	return []byte(hex.EncodeToString(mac.Sum(nil)))
}

// decode checks the signature of a message and parses the message.
func (s signer) decode(frames [][]byte) (message, error) {
	i := 0
	for i < len(frames) && !bytes.Equal(frames[i], delimiter) {
		i++
	}
	if len(frames) < i+6 {
		return message{}, errMalformed
	}
	signature, parts := frames[i+1], frames[i+2:i+6]
	if len(s) > 0 && !hmac.Equal(signature, s.sign(parts)) {
		return message{}, errSignature
	}
	m := message{route: frames[:i], rawHead: parts[0], rawUp: parts[1], metadata: parts[2], content: parts[3],
		buffers: frames[i+6:]}
	if json.Unmarshal(m.rawHead, &m.head) != nil || m.head.Type == "" || !json.Valid(m.content) {
		return message{}, errMalformed
	}
	if json.Unmarshal(m.rawUp, &m.parent) != nil || !json.Valid(m.metadata) {
		return message{}, errMalformed
	}
	return m, nil
}

// encode is the inverse of decode.
func (s signer) encode(m message) [][]byte {
	parts := [][]byte{m.rawHead, m.rawUp, m.metadata, m.content}
	frames := append([][]byte{}, m.route...)
	frames = append(frames, delimiter, s.sign(parts))
	return append(append(frames, parts...), m.buffers...)
}

// read parses the content.
func (m message) read(into any) error { return json.Unmarshal(m.content, into) }

// with returns the message with different content.
func (m message) with(content any) message {
	m.content = mustJSON(content)
	return m
}

// answer returns a new message to the sender of a request.
func (m message) answer(session, kind string, content any) message {
	head := header{ID: newID(), Username: "kernel", Session: session, Type: kind, Version: protocolVersion,
		Date: time.Now().UTC().Format(time.RFC3339Nano)}
	up := m.rawHead
	if up == nil {
		up = json.RawMessage("{}")
	}
	return message{route: m.route, head: head, parent: m.head, rawHead: mustJSON(head), rawUp: up,
		metadata: json.RawMessage("{}"), content: mustJSON(content)}
}

// mustJSON encodes a value that can always be encoded.
func mustJSON(v any) json.RawMessage { return must.M1(json.Marshal(v)) }

func newID() string { return rand.Text() }
