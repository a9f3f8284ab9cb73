package notebook

import "fmt"

// What Check shows for a right and for a wrong answer. `go run ./kernels run` looks for the first text.
const (
	rightAnswer = "**Right.**"
	wrongAnswer = "**Not yet.** "
)

// Check ends the cell of an exercise: it shows whether the student's answer is right, and otherwise a hint. hint and
// values are as in fmt.Printf. A wrong answer is no error: the notebook goes on.
//
// The Markdown cell after the exercise has the answer, a block of Go inside a folded <details>. `go run ./kernels run`
// also runs the answers of a notebook, after its last cell, and fails if one of them is not right.
func Check(right bool, hint string, values ...any) { ShowMarkdown(checked(right, hint, values...)) }

// checked returns the Markdown that [Check] shows.
func checked(right bool, hint string, values ...any) string {
	if right {
		return rightAnswer
	}
	return wrongAnswer + fmt.Sprintf(hint, values...)
}
