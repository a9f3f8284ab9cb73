package notebook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// Answers says in Markdown whether sentences of the paper hold, by their numbers in paper.Sentences: all sentences where
// no number is given. The page results/README.md beside the notebook has the same answers, from the same results.
func Answers(numbers ...int) string {
	var b strings.Builder
	for _, s := range answered(numbers) {
		b.WriteString(s.Line())
	}
	return b.String() + "\n[All ten answers](results/README.md)\n"
}

// Evidence is a Markdown table of what a sentence of the paper compares, by its number in paper.Sentences.
func Evidence(number int) string { return study.Parts(answered([]int{number})[0]) }

// answered answers the sentences together, as their correction asks, and returns some of them.
func answered(numbers []int) []study.Answered {
	all := must.M1(study.Answer(study.NewArchive("results", paper.Known), paper.Sentences))
	if len(numbers) == 0 {
		return all
	}
	var out []study.Answered
	for _, n := range numbers {
		at := slices.IndexFunc(all, func(s study.Answered) bool { return s.Number == n })
		if at < 0 {
			panic(fmt.Errorf("there is no sentence %d: they have the numbers 1 to %d", n, len(all)))
		}
		out = append(out, all[at])
	}
	return out
}

// LikeForLike is Markdown tables of the study behind sentences 3 to 5, as far as it is made: mean regrets, and the
// searches for the settings.
func LikeForLike() string {
	a := study.NewArchive("results", paper.Known)
	return must.M1(a.Means("neural/like-for-like-1000", "neural/like-for-like-200")) + "\n" +
		must.M1(a.Searches("tuning/like-for-like"))
}
