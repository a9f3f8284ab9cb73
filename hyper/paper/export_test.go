package paper

import (
	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/study"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// LeastOf makes leastOf available to tests, for agents trained by the paper's method at the full size.
func LeastOf(simulate study.Simulator, bound RegretBound, agent string, arms int) (analysis.Least, error) {
	return leastOf(simulate, Frontier.Full, bound, frontierFamily{agent, train.Sampled, arms})
}

// FrontierSettings makes settings available to tests, by the names of an agent and a training method.
func FrontierSettings(agent, integrate string, arms int) [][]string {
	return frontierFamily{agent, enum.Of[train.Integration](integrate), arms}.settings()
}
