package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// answers prints the answers to the paper's ten sentences, by the results in a folder.
func (f *checkFlags) answers(c *cobra.Command) error {
	for _, flag := range []string{"all", "quick", "periods", "runs", "claim", "seed", "mix"} {
		if c.Flags().Changed(flag) {
			return fmt.Errorf("--%s does not go with --paper: the sentences have their own runs", flag)
		}
	}
	if len(f.study) != 1 {
		return errors.New("--paper needs one --study DIR, a folder of results such as notebooks/results")
	}
	all, err := study.Answer(study.NewArchive(f.study[0], paper.Known), paper.Sentences)
	if err != nil {
		return err
	}
	count := map[study.Verdict]int{}
	for _, s := range all {
		count[s.Verdict]++
		if f.json {
			if err := printLines(answerLine(s)); err != nil {
				return err
			}
			continue
		}
		fmt.Printf("%2d  %s\n    “%s” (%s)\n    %s: %s\n\n", s.Number, s.Text, s.Quote, s.Section, s.Verdict, s.Finding())
	}
	if count[study.Holds] == len(all) {
		return nil
	}
	return failure{fmt.Errorf("of %d sentences %d hold, %d do not hold, %d are open", len(all), count[study.Holds],
		count[study.DoesNotHold], count[study.Open])}
}

// answer is a line of JSON about a sentence.
type answer struct {
	Sentence int           `json:"sentence"`
	Section  string        `json:"section"`
	Text     string        `json:"text"`
	Quote    string        `json:"quote"`
	Answer   study.Verdict `json:"answer"`
	P        float64       `json:"p"` // corrected by Holm's method
	Finding  string        `json:"finding"`
	Parts    []answerPart  `json:"parts"`
}

type answerPart struct {
	Text     string    `json:"text"`
	Claimed  string    `json:"claimed"`
	Estimate lab.Float `json:"estimate"`
	Lower    lab.Float `json:"lower"`
	Upper    lab.Float `json:"upper"`
	For      float64   `json:"p_for"`
	Against  float64   `json:"p_against"`
	Pairs    int       `json:"pairs"`
	Periods  int       `json:"periods,omitempty"`
	Diverged [2]int    `json:"diverged"`
	Missing  string    `json:"missing,omitempty"`
}

func answerLine(s study.Answered) answer {
	out := answer{s.Number, s.Section, s.Text, s.Quote, s.Verdict, s.Corrected, s.Finding(), nil}
	for _, p := range s.Evidence {
		out.Parts = append(out.Parts, answerPart{p.Text, p.Claim.String(), p.Value, p.Lower, p.Upper, p.For, p.Against,
			p.Pairs, p.Periods, p.Diverged, p.Missing})
	}
	return out
}
