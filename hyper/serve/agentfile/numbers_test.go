package agentfile

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/internal/strict"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// goWords are words that a client in another language cannot know.
var goWords = regexp.MustCompile(`Go |json:|\bfloat(32|64)\b|interface|map\[|%!|<nil>|\b(Config|Learner|Menu|Weight)\b`)

// An error names the key of a value out of range in a Spec; several faults are joined.
func TestSpecNumbers(t *testing.T) {
	const names = `"arms": ["old", "new"], "context": {"names": ["age"]}`
	for text, wants := range map[string][]string{
		`"floor": 2`:                                                {"floor must be at most 1"},
		`"pending": -1, "expire": "-3s"`:                            {"pending must be", "expire must not be negative"},
		`"capacity": -1`:                                            {"capacity must be"},
		`"background": 3`:                                           {"background must be from 0 to 1"},
		`"background": -1`:                                          {"background must be from 0 to 1"},
		`"change": {"run": 0.5}`:                                    {"change.run must be"},
		`"change": {"run": 0, "restart": true}`:                     {"change.run must be"},
		`"learner": "ensemble", "replay": "window"`:                 {"replay window needs capacity"},
		`"replay": "window", "capacity": 10`:                        {"replay window is not for this learner"},
		`"learner": "ensemble", "replay": "window", "capacity": 10`: nil,
		`"replay": "windows"`:                                       {"replay must be growth, reservoir or window"},
		`"reward": {"wait": "-1m"}`:                                 {"reward.wait must not be negative"},
		`"reward": {"default": 1}`:                                  {"reward.wait must be given"},
		`"reward": {"wait": "1m"}`:                                  {"reward.wait needs default"},
		`"reward": {"wait": "1m", "default": 0}, "expire": "10s"`:   {"reward.wait must be at most expire, 10s, got 1m0s"},
		`"reward": {"wait": "1m", "combine": "mean"}`:               {"reward.combine must be first, sum, max or last"},
		`"floor": -1, "reward": {"wait": "9s", "combine": "last"}`:  nil,
		`"background": 1, "change": {"run": 1e5}, "expire": "100h"`: nil,
	} {
		var s api.Spec
		err := strict.JSON([]byte("{"+names+", "+text+"}"), &s)
		if err == nil {
			_, err = Config(s)
		}
		if (err == nil) != (wants == nil) {
			t.Errorf("%s: got error %v", text, err)
		}
		for _, want := range wants {
			if err != nil && (!strings.Contains(err.Error(), want) || goWords.MatchString(err.Error())) {
				t.Errorf("%s: %v, want %q", text, err, want)
			}
		}
	}
	for text, want := range map[string]string{
		`{"noise-variance": 0}`: "noise-variance must be positive", `{"noise-variance": 1}`: "", `{}`: "",
	} {
		c, err := Config(api.Spec{Arms: []string{"a", "b"}, Set: []byte(text)})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v", text, err)
		}
		if v := c.Learner.NoiseVariance; text == `{"noise-variance": 1}` && v != 1 {
			t.Errorf("%s: got noise variance %v, want 1", text, v)
		}
	}
}
