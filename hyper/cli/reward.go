package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/serve"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

type rewardFlags struct {
	to, tokenFile string
	cert, key, ca string // PEM files
}

func (f *rewardFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.to, "to", "http://127.0.0.1:8080", "address of the server")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the token of the server")
	flags.StringVar(&f.cert, "tls-cert", "", "certificate to show to a server with --tls-client-ca, PEM")
	flags.StringVar(&f.key, "tls-key", "", "key of --tls-cert, PEM")
	flags.StringVar(&f.ca, "tls-ca", "",
		"authority of the server's certificate, PEM (default: the authorities of the system)")
}

func rewardCommand() *cobra.Command {
	var f rewardFlags
	c := &cobra.Command{
		Use:   "reward FILE.csv|FILE.jsonl",
		Short: "Send the rewards of a file to a running hyper serve",
		Long: `Send the rewards of a file to a running hyper serve, in requests of at most
10,000 rewards. The command checks the file before it sends anything.

FILE.csv has a header with the columns id and reward, and optionally weight, the
number of times that a reward counts. FILE.jsonl has a line such as
{"id": "0-f0db5cf3", "reward": 1} for each reward.

The same file may be sent again. The first reward of a decision counts, and the
server ignores repeated ones.

Exit status 1 means that rewards were refused, or not sent; 2 means that the
file is wrong.`,
		Example: "  hyper reward rewards.csv --to https://agent:8080 --token-file token",
		Args:    argument("FILE"),
		RunE:    func(c *cobra.Command, args []string) error { return f.run(c.Context(), c.OutOrStdout(), args[0]) },
	}
	f.add(c.Flags())
	return c
}

// run sends the rewards of a file, and prints what the server took and refused.
func (f *rewardFlags) run(ctx context.Context, w io.Writer, file string) error {
	s, err := f.sender()
	if err != nil {
		return err
	}
	all, err := readRewards(file)
	if err != nil {
		return err
	}
	result, err := s.send(ctx, all)
	result.print(w, len(all))
	if ctx.Err() != nil {
		return lab.ErrInterrupted
	}
	if n := len(result.refused) + result.more; err == nil && n > 0 {
		err = fmt.Errorf("%d rewards were refused", n)
	}
	return failed(err)
}

type rewardSender struct {
	url, token string
	client     *http.Client
}

func (f *rewardFlags) sender() (*rewardSender, error) {
	to, err := url.Parse(f.to)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return nil, fmt.Errorf("--to must be the address of a server, such as http://127.0.0.1:8080, got %q", f.to)
	}
	s := &rewardSender{url: strings.TrimSuffix(f.to, "/") + "/v1/reward"}
	if s.token, err = readToken(f.tokenFile); err != nil {
		return nil, err
	}
	if s.client, err = serve.NewClient(f.cert, f.key, f.ca); err != nil {
		return nil, err
	}
	s.client.Timeout = 2 * time.Minute
	return s, nil
}

// sendResult has the server's answers to rewards.
type sendResult struct {
	taken   int                 // number of rewards that the server took, now or before
	refused []api.DecisionError // the first refused rewards, which are printed
	more    int                 // number of other refused rewards
}

// Bounds of requests.
const (
	firstRewards   = 100      // number of rewards in the first request
	maxRewards     = 10_000   // largest number of rewards that the server accepts in a request
	maxWaits       = 60       // number of times that a request is repeated, once per second, after status 429
	maxShown       = 20       // largest number of refused rewards that are printed
	maxAnswerBytes = 16 << 20 // largest number of bytes that are read of an answer
)

// send sends rewards in requests. It sends larger requests while they take little time, because a server has one minute
// to answer.
func (s *rewardSender) send(ctx context.Context, all []reward) (result sendResult, err error) {
	size, largest, waits := firstRewards, maxRewards, 0
	for at := 0; at < len(all); {
		some := all[at:min(at+size, len(all))]
		begun := time.Now()
		reply, status, err := s.post(ctx, some)
		switch {
		case status == http.StatusTooManyRequests && waits < maxWaits: // --rate of the server
			waits++
			pause(ctx, time.Second)
			continue
		case status == http.StatusRequestEntityTooLarge && len(some) > 1: // --max-bytes of the server
			size = len(some) / 2
			largest = size
			continue
		case err != nil:
			return result, fmt.Errorf("%d of %d rewards were sent: %w; correct this, and run the command again: no "+
				"reward is counted twice", at, len(all), err)
		}
		result.add(reply)
		at, waits = at+len(some), 0
		if took := time.Since(begun); took < 2*time.Second {
			size = min(2*size, largest)
		} else if took > 10*time.Second {
			size = max(size/2, 1)
		}
	}
	return result, nil
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// post sends one request with some rewards.
func (s *rewardSender) post(ctx context.Context, some []reward) (reply api.RewardReply, status int, err error) {
	text, err := json.Marshal(map[string][]reward{"rewards": some})
	if err != nil {
		return reply, 0, err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(text))
	if err != nil {
		return reply, 0, err
	}
	q.Header.Set("Content-Type", "application/json")
	if s.token != "" {
		q.Header.Set("Authorization", "Bearer "+s.token)
	}
	w, err := s.client.Do(q)
	if err != nil {
		return reply, 0, err
	}
	defer w.Body.Close()
	text, err = io.ReadAll(io.LimitReader(w.Body, maxAnswerBytes))
	if err != nil {
		return reply, w.StatusCode, err
	}
	reply, err = s.read(w, text, len(some))
	return reply, w.StatusCode, err
}

// read reads the text of the answer to a request of n rewards.
func (s *rewardSender) read(w *http.Response, text []byte, n int) (reply api.RewardReply, err error) {
	switch w.StatusCode {
	case http.StatusOK:
		if json.Unmarshal(text, &reply) != nil || reply.Taken+len(reply.Errors) != n {
			return reply, fmt.Errorf("%s is not a hyper serve: it answers %.200q to %d rewards", s.url, text, n)
		}
		return reply, nil
	case http.StatusUnauthorized:
		return reply, errors.New("the token is missing or wrong: give the token of the server with --token-file")
	}
	var f api.ErrorReply
	if json.Unmarshal(text, &f) != nil || f.Error == "" {
		f.Error = fmt.Sprintf("%.200s", bytes.TrimSpace(text))
	}
	return reply, fmt.Errorf("%s answers %s: %s", s.url, w.Status, f.Error)
}

func (r *sendResult) add(reply api.RewardReply) {
	shown := min(len(reply.Errors), maxShown-len(r.refused))
	r.taken += reply.Taken
	r.refused = append(r.refused, reply.Errors[:shown]...)
	r.more += len(reply.Errors) - shown
}

// print prints the first refused rewards, and the numbers of rewards that were taken and refused.
func (r sendResult) print(w io.Writer, all int) {
	for _, one := range r.refused {
		if strings.Contains(one.Error, one.ID) {
			one.ID = "refused"
		}
		fmt.Fprintf(os.Stderr, "%.80s: %.300s\n", one.ID, one.Error)
	}
	if r.more > 0 {
		fmt.Fprintf(os.Stderr, "refused: %d others\n", r.more)
	}
	fmt.Fprintf(w, "%d of %d rewards were taken, now or before; %d were refused\n", r.taken, all, len(r.refused)+r.more)
}
