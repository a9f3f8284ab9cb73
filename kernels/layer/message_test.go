package layer

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

func TestSignatures(t *testing.T) {
	key := signer("secret")
	request := message{}.answer("s", "execute_request", map[string]any{"code": "x"})
	request.route, request.buffers = [][]byte{[]byte("client")}, [][]byte{{1, 2}}
	frames := key.encode(request)
	got, err := key.decode(frames)
	if err != nil || got.head != request.head || string(got.content) != `{"code":"x"}` ||
		!bytes.Equal(got.buffers[0], []byte{1, 2}) {
		t.Fatalf("decoded message: got %+v, error %v, want the encoded one", got, err)
	}
	if _, err := signer("other").decode(frames); !errors.Is(err, errSignature) {
		t.Errorf("another key: got error %v, want errSignature", err)
	}
	changed := slices.Clone(frames)
	changed[6] = []byte(`{"code":"y"}`)
	if _, err := key.decode(changed); !errors.Is(err, errSignature) {
		t.Errorf("changed content: got error %v, want errSignature", err)
	}
	if _, err := signer(nil).decode(signer(nil).encode(request)); err != nil {
		t.Errorf("no key: got error %v, want none", err)
	}
	for _, bad := range [][][]byte{nil, {delimiter}, frames[:5], {[]byte("a"), []byte("b")}} {
		if _, err := key.decode(bad); !errors.Is(err, errMalformed) {
			t.Errorf("%q: got error %v, want errMalformed", bad, err)
		}
	}
	reply := got.answer("s", "execute_reply", map[string]string{"status": "ok"})
	if reply.parent.ID != request.head.ID || string(reply.rawUp) != string(request.rawHead) {
		t.Errorf("parent of a reply: got %+v, want the request", reply.parent)
	}
}
