package offpolicy_test

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"os"
	"strconv"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent/offpolicy"
)

// An impression is a row of the Open Bandit Dataset: an item shown in one of three positions of a campaign's page. The
// probabilities of items differ between positions, and sum to 1 in each position.
type impression struct {
	place
	item       int
	click      float64
	propensity float64
}

type place struct{ campaign, position string }

// items has the number of items of each campaign.
var items = map[string]int{"all": 80, "men": 34, "women": 46}

// openBandit reads the log of a policy, "random" or "bts" (Bernoulli Thompson sampling).
func openBandit(policy string) (log []impression) {
	f := must.M1(os.Open("testdata/obd-" + policy + ".csv.gz"))
	defer f.Close()
	rows := must.M1(csv.NewReader(must.M1(gzip.NewReader(f))).ReadAll())
	for _, r := range rows[1:] {
		log = append(log, impression{place{r[0], r[2]}, must.M1(strconv.Atoi(r[1])),
			must.M1(strconv.ParseFloat(r[3], 64)), must.M1(strconv.ParseFloat(r[4], 64))})
	}
	return log
}

// onPolicy returns the click rate of the logging policy.
func onPolicy(log []impression) (rate float64) {
	for _, x := range log {
		rate += x.click
	}
	return rate / float64(len(log))
}

// rates returns the click rates of campaigns, in the rows whose number modulo 2 has a given remainder.
func rates(log []impression, remainder int) map[string]float64 {
	clicks, shown := map[string]float64{}, map[string]float64{}
	for i, x := range log {
		if i%2 == remainder {
			clicks[x.campaign] += x.click
			shown[x.campaign]++
		}
	}
	for campaign, n := range shown {
		clicks[campaign] /= n
	}
	return clicks
}

func uniform(k int, x float64) []float64 {
	p := make([]float64, k)
	for i := range p {
		p[i] = x
	}
	return p
}

// shares returns the shares of items in the positions of a log: the logging policy, on average over the week. The
// dataset lacks the probabilities of the items that bts did not show, which changed from hour to hour.
func shares(log []impression) map[place][]float64 {
	shares, shown := map[place][]float64{}, map[place]float64{}
	for _, x := range log {
		if shares[x.place] == nil {
			shares[x.place] = make([]float64, items[x.campaign])
		}
		shares[x.place][x.item]++
		shown[x.place]++
	}
	for at, p := range shares {
		for i := range p {
			p[i] /= shown[at]
		}
	}
	return shares
}

// btsFromRandom returns the decisions of the random log, with bts as the target. The model of each half of the log is
// the click rate in the other half.
func btsFromRandom(random []impression, bts map[place][]float64) (samples []offpolicy.Sample) {
	model := []map[string]float64{rates(random, 1), rates(random, 0)}
	for i, x := range random {
		k := items[x.campaign]
		samples = append(samples, must.M1(offpolicy.NewSample(x.item, x.click, uniform(k, 1/float64(k)), bts[x.place],
			uniform(k, model[i%2][x.campaign]))))
	}
	return samples
}

// randomFromBTS returns the decisions of bts, with the random policy as the target.
func randomFromBTS(bts []impression) (samples []offpolicy.Sample) {
	model := []map[string]float64{rates(bts, 1), rates(bts, 0)}
	for i, x := range bts {
		k := items[x.campaign]
		samples = append(samples, must.M1(offpolicy.NewPartial(x.item, x.click, x.propensity, uniform(k, 1/float64(k)),
			uniform(k, model[i%2][x.campaign]))))
	}
	return samples
}

// On the logs of the Open Bandit Dataset, with 30,000 rows each, the intervals contain the click rate that the target
// had when it was used. This is consistent with correct intervals, and proves nothing.
func TestOpenBanditDataset(t *testing.T) {
	random, bts := openBandit("random"), openBandit("bts")
	if onPolicy(random) != 130.0/30000 || onPolicy(bts) != 157.0/30000 {
		t.Fatalf("click rates %v and %v, want those of the dataset", onPolicy(random), onPolicy(bts))
	}
	forBTS, forRandom := btsFromRandom(random, shares(bts)), randomFromBTS(bts)
	for _, k := range []struct {
		target  string
		samples []offpolicy.Sample
		rate    float64
		e       offpolicy.Estimator
		o       offpolicy.Options
	}{
		{"bts", forBTS, onPolicy(bts), offpolicy.IPS{}, offpolicy.Options{}},
		{"bts", forBTS, onPolicy(bts), offpolicy.SNIPS{}, offpolicy.Options{}},
		{"bts", forBTS, onPolicy(bts), offpolicy.DoublyRobust{}, offpolicy.Options{}},
		{"bts", forBTS, onPolicy(bts), offpolicy.Switch{}, offpolicy.Options{}},
		// Twelve impressions of equal weight determine this estimate, fewer than Options.Least requires.
		{"random", forRandom, onPolicy(random), offpolicy.Switch{}, offpolicy.Options{Least: 10}},
	} {
		got, err := offpolicy.Evaluate(k.samples, k.e, k.o)
		t.Logf("%s, %v: %v, freedom %.1f, blind %.3f; when tried %.4g", k.target, k.e, got, got.Freedom, got.Blind, k.rate)
		if err != nil || !(got.Lower <= k.rate && k.rate <= got.Upper) {
			t.Errorf("%s, %v: got %v, error %v, want an interval with the click rate %.4g",
				k.target, k.e, got, err, k.rate)
		}
		if width := got.Upper - got.Lower; width > 0.8*k.rate {
			t.Errorf("%s, %v: got %v, want a narrower interval", k.target, k.e, got)
		}
	}
	for _, e := range []offpolicy.Estimator{offpolicy.IPS{}, offpolicy.SNIPS{}, offpolicy.DoublyRobust{}} {
		if got, err := offpolicy.Evaluate(forRandom, e, offpolicy.Options{}); !errors.Is(err, offpolicy.ErrTooFew) {
			t.Errorf("random policy, %v: got %v, error %v, want a refusal because of one weight of 21,739", e, got, err)
		}
	}
}
