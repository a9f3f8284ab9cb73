package cli

import (
	"errors"
	"fmt"
	"image/color"

	"github.com/spf13/cobra"
	gonum "gonum.org/v1/plot"

	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/plot"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// answers prints the answers to the paper's ten sentences, from the results in a folder.
func (f *checkFlags) answers(c *cobra.Command) error {
	const why = "cannot be combined with --paper: the sentences have their own runs"
	if err := refuseFlags(c, why, "all", "quick", "periods", "runs", "claim", "seed", "mix"); err != nil {
		return err
	}
	if len(f.study) != 1 {
		return errors.New("--paper needs one --study DIR, a folder of results such as notebooks/results")
	}
	if err := f.archive().Require(paper.Order...); err != nil {
		return fmt.Errorf("--study %w", err)
	}
	all, err := study.Answers(f.archive(), paper.Sentences)
	if err != nil {
		return err
	}
	if f.figure != "" {
		p, err := forest(all)
		if err == nil {
			_, err = saveFigure(p, f.figure, "figure")
		}
		if err != nil {
			return err
		}
	}
	holding := 0
	for _, s := range all {
		if s.Verdict == study.Holds {
			holding++
		}
		if f.engine.json {
			if err := printNumbers(c.OutOrStdout(), answerLine(s)); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(c.OutOrStdout(), "%2d  %s\n    “%s” (%s)\n    %s: %s\n\n", s.Number, s.Text, s.Quote, s.Section,
			s.Verdict, s.Reason())
	}
	if holding == len(all) {
		return nil
	}
	return failure{fmt.Errorf("of %d sentences %s", len(all), study.CountVerdicts(all))}
}

var answerColors = map[study.Verdict]color.NRGBA{
	study.Holds: plot.Palette[2], study.DoesNotHold: plot.Palette[1], study.Open: plot.Gray,
}

// forest draws all comparisons of the sentences, and emphasises those that decide the answers.
func forest(all []study.Answer) (*gonum.Plot, error) {
	var rows []plot.ForestRow
	for _, s := range all {
		row := plot.ForestRow{Label: fmt.Sprintf("%s  %d", s.Label, s.Number), Note: string(s.Verdict),
			Color: answerColors[s.Verdict]}
		for _, p := range s.Comparisons {
			if p.Missing != "" {
				continue
			}
			if p.Text == s.Deciding.Text {
				row.Main = len(row.Estimates)
			}
			value, lower, upper := p.Relative()
			row.Estimates = append(row.Estimates, stats.Estimate{Value: stats.Float(value),
				Lower: stats.Float(lower), Upper: stats.Float(upper)})
		}
		if row.Estimates == nil {
			row.Note += ", to be run"
		}
		rows = append(rows, row)
	}
	return plot.Forest("Does the paper hold? Left of 1: as claimed", "estimate over the bound that is claimed", 1./32,
		300, rows)
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

// answerPart is a comparison of an answer.
type answerPart struct {
	Text     string      `json:"text"`
	Claimed  string      `json:"claimed"`
	Estimate stats.Float `json:"estimate"`
	Lower    stats.Float `json:"lower"`
	Upper    stats.Float `json:"upper"`
	For      float64     `json:"p_for"`
	Against  float64     `json:"p_against"`
	Pairs    int         `json:"pairs"`
	Periods  int         `json:"periods,omitempty"`
	Diverged [2]int      `json:"diverged"`
	Missing  string      `json:"missing,omitempty"`
}

func answerLine(s study.Answer) answer {
	out := answer{Sentence: s.Number, Section: s.Section, Text: s.Text, Quote: s.Quote, Answer: s.Verdict,
		P: s.Corrected, Finding: s.Reason()}
	for _, p := range s.Comparisons {
		out.Parts = append(out.Parts, answerPart{Text: p.Text, Claimed: p.Claimed.String(), Estimate: p.Estimate.Value,
			Lower: p.Estimate.Lower, Upper: p.Estimate.Upper, For: p.Inside, Against: p.Outside, Pairs: p.Runs,
			Periods: p.Periods, Diverged: p.Diverged, Missing: p.Missing})
	}
	return out
}
