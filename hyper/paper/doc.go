// Package paper defines the experiments of "Hypermodels for Exploration". Each experiment has a world, agents with
// their default settings, and a quick and a full size. [Claims] lists tests of single claims, by fresh runs or by
// results. [Sentences] lists ten sentences of the paper, which results answer.
package paper
