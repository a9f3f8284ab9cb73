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

// Overview returns Markdown with the number of sentences of the paper that hold, and a table of all answers.
func Overview() string {
	all := answers()
	return fmt.Sprintf("**Of %d sentences %s.**\n\n%s", len(all), study.CountVerdicts(all), study.AnswersTable(all))
}

// Evidence returns Markdown with the answer to a sentence of the paper, by its number in paper.Sentences, a table of its
// comparisons, and its p-value.
func Evidence(number int) string {
	a := numbered(answers(), []int{number})[0]
	return fmt.Sprintf("%s\n%s\nP-value of the sentence, after the correction: %.1g.\n", Answers(number),
		a.ComparisonsTable(), a.Corrected)
}

// answers answers all sentences together, because the correction for multiple tests needs all of them. A program reads
// the results once.
var answers = sync.OnceValue(func() []study.Answer { return answersFrom("results") })

// answersFrom is answers for the results in a folder. It panics if the folder has none: all answers would be open.
func answersFrom(dir string) []study.Answer {
	archive := study.NewArchive(dir, Known)
	must.M(archive.Require(paper.Order...))
	return must.M1(study.Answers(archive, paper.Sentences))
}

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

// LikeForLike returns a Markdown table of mean regrets in the study behind sentences 3 to 5, as far as it has been run.
func LikeForLike() string {
	return must.M1(study.NewArchive("results", Known).Means("neural/like-for-like-1000", "neural/like-for-like-200"))
}
