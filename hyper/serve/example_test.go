package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/serve"
	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// A client asks which page to show to a visitor, and sends the reward.
func Example() {
	dir := must.M1(os.MkdirTemp("", "agent"))
	defer os.RemoveAll(dir)
	spec := must.M1(agentfile.Read("testdata/pages.json"))
	s := must.M1(serve.New(context.Background(), serve.Options{Spec: spec, Dir: dir}))
	server := httptest.NewServer(s.Handler()) // in a service: hyper serve testdata/pages.json
	defer server.Close()

	var d api.Decision
	post(server.URL+"/v1/decide", api.DecisionRequest{Context: map[string]any{"age": 41, "country": "fr"}}, &d)
	fmt.Println(d.Name == "old" || d.Name == "new", len(d.Probabilities))

	bought := float32(1)
	var taken api.RewardReply
	post(server.URL+"/v1/reward", api.RewardRequest{ID: d.ID, Reward: &bought}, &taken)
	fmt.Println(taken.Taken)
	// Output:
	// true 2
	// 1
}

// post sends a value as JSON, and decodes the answer.
func post(url string, in, out any) {
	r := must.M1(http.Post(url, "application/json", bytes.NewReader(must.M1(json.Marshal(in)))))
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		panic(r.Status)
	}
	must.M(json.NewDecoder(r.Body).Decode(out))
}
