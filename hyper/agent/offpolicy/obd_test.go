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
// probabilities of items differ between positions, and those of a position sum to 1.
type impression struct {
	place
	item       int
	click      float64
	propensity float64
}

type place struct{ campaign, position string }

// items are how many each campaign has.
var items = map[string]int{"all": 80, "men": 34, "women": 46}

// openBandit reads the log of a policy, random or bts: Bernoulli Thompson sampling.
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

// onPolicy is the click rate of the policy that logged.
func onPolicy(log []impression) (rate float64) {
	for _, x := range log {
		rate += x.click / float64(len(log))
	}
	return rate
}

// rates are the click rates of campaigns in the rows of a log whose number has a remainder by 2.
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

// shares are the shares of items in the positions of a log: the policy that logged, on average over the week. The
// dataset does not have the probabilities of the items that bts did not show, which changed from hour to hour.
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

// btsFromRandom are the decisions of the random log, for bts as the target. The model of each half of the log is the
// click rate of the other.
func btsFromRandom(random []impression, bts map[place][]float64) (samples []offpolicy.Sample) {
	model := []map[string]float64{rates(random, 1), rates(random, 0)}
	for i, x := range random {
		k := items[x.campaign]
		samples = append(samples, must.M1(offpolicy.NewSample(x.item, x.click, uniform(k, 1/float64(k)), bts[x.place],
			uniform(k, model[i%2][x.campaign]))))
	}
	return samples
}

// randomFromBTS are the decisions of bts, for the random policy as the target.
func randomFromBTS(bts []impression) (samples []offpolicy.Sample) {
	model := []map[string]float64{rates(bts, 1), rates(bts, 0)}
	for i, x := range bts {
		k := items[x.campaign]
		samples = append(samples, must.M1(offpolicy.NewPartial(x.item, x.click, x.propensity, uniform(k, 1/float64(k)),
			uniform(k, model[i%2][x.campaign]))))
	}
	return samples
}

// On the logs of the Open Bandit Dataset, 30,000 rows each, the intervals hold the click rate that the target had when it
// was tried. This makes them plausible, and proves nothing.
func TestOpenBanditDataset(t *testing.T) {
	random, bts := openBandit("random"), openBandit("bts")
	for _, k := range []struct {
		name    string
		samples []offpolicy.Sample
		truth   float64
		e       offpolicy.Estimator
		o       offpolicy.Options
	}{
		{"bts from random", btsFromRandom(random, shares(bts)), onPolicy(bts), offpolicy.IPS{}, offpolicy.Options{}},
		{"bts from random", btsFromRandom(random, shares(bts)), onPolicy(bts), offpolicy.SNIPS{}, offpolicy.Options{}},
		{"bts from random", btsFromRandom(random, shares(bts)), onPolicy(bts), offpolicy.DoublyRobust{}, offpolicy.Options{}},
		{"bts from random", btsFromRandom(random, shares(bts)), onPolicy(bts), offpolicy.Switch{Threshold: 5}, offpolicy.Options{}},
		{"random from bts", randomFromBTS(bts), onPolicy(random), offpolicy.IPS{}, offpolicy.Options{}},
		{"random from bts", randomFromBTS(bts), onPolicy(random), offpolicy.IPS{}, offpolicy.Options{Least: 1}},
		{"random from bts", randomFromBTS(bts), onPolicy(random), offpolicy.SNIPS{}, offpolicy.Options{Least: 1}},
		{"random from bts", randomFromBTS(bts), onPolicy(random), offpolicy.DoublyRobust{}, offpolicy.Options{Least: 1}},
		{"random from bts", randomFromBTS(bts), onPolicy(random), offpolicy.IPS{Clip: 5}, offpolicy.Options{Least: 1}},
		{"random from bts", randomFromBTS(bts), onPolicy(random), offpolicy.Switch{Threshold: 1}, offpolicy.Options{Least: 1}},
		{"random from bts", randomFromBTS(bts), onPolicy(random), offpolicy.Switch{Threshold: 2}, offpolicy.Options{Least: 1}},
		{"random from bts", randomFromBTS(bts), onPolicy(random), offpolicy.Switch{Threshold: 5}, offpolicy.Options{Least: 1}},
		{"random from bts", randomFromBTS(bts), onPolicy(random), offpolicy.Switch{Threshold: 10}, offpolicy.Options{Least: 1}},
	} {
		got, err := offpolicy.Evaluate(k.samples, k.e, k.o)
		t.Logf("%s, %v: %v, truth %v, freedom %v, ess %v, largest %v blind %v %v %v", k.name, k.e, got, k.truth, got.Freedom, got.EffectiveSize, got.LargestWeight, got.Blind, err, errors.Is(err, offpolicy.ErrTooFew))
	}
}
