package notebook

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// Answers returns Markdown that says whether sentences of the paper hold. numbers are their numbers in paper.Sentences;
// without numbers it answers all sentences. The page results/README.md next to the notebook has the same answers from
// the same results.
func Answers(numbers ...int) string {
	return listOf(answers(), numbers)
}

// listOf returns the text of [Answers] for some of all answers.
func listOf(all []study.Answer, numbers []int) string {
	var b strings.Builder
	for _, s := range numbered(all, numbers) {
		b.WriteString(s.ListItem())
	}
	return b.String()
}

// Evidence returns a Markdown table of the comparisons for a sentence of the paper, by its number in paper.Sentences.
func Evidence(number int) string {
	return numbered(answers(), []int{number})[0].ComparisonsTable()
}

// answers answers all sentences together, because the correction for multiple tests needs all of them. A program reads
// the results once.
var answers = sync.OnceValue(func() []study.Answer {
	return must.M1(study.Answers(study.NewArchive("results", known), paper.Sentences))
})

// numbered returns the answers with the given numbers of sentences, or all without numbers.
func numbered(all []study.Answer, numbers []int) []study.Answer {
	if len(numbers) == 0 {
		return all
	}
	var out []study.Answer
	for _, n := range numbers {
		at := slices.IndexFunc(all, func(s study.Answer) bool { return s.Number == n })
		if at < 0 {
			panic(fmt.Errorf("there is no sentence %d: the numbers are 1 to %d", n, len(paper.Sentences)))
		}
		out = append(out, all[at])
	}
	return out
}

// LikeForLike returns Markdown tables of the study behind sentences 3 to 5, as far as it has been run: mean regrets,
// and the searches for the settings.
func LikeForLike() string {
	a := study.NewArchive("results", known)
	return must.M1(a.Means("neural/like-for-like-1000", "neural/like-for-like-200")) + "\n" +
		must.M1(a.Searches("tuning/like-for-like"))
}
