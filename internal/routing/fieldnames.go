package routing

import (
	"maps"
	"slices"
)

// FieldNames are the names of all fields of the config language, at every depth and in
// both spellings, each once and in no order: "override_params", "overrideParams",
// "openai_project". Operators of queries are among them. The slice is the caller's.
func FieldNames() []string {
	names := make(map[string]bool)
	for _, table := range [][]string{
		namesOf(draftFields), namesOf(deploymentFields), namesOf(hookFields), namesOf(checkFields), namesOf(reactionFields), namesOf(feedbackFields),
		namesOf(retryFields), namesOf(cacheFields), namesOf(breakerFields), namesOf(strategyFields), namesOf(conditionFields), namesOf(stickyFields),
		slices.Collect(maps.Keys(makers)),
	} {
		for _, name := range table {
			names[name] = true
		}
	}
	return slices.Collect(maps.Keys(names))
}

func namesOf[T any](fs fields[T]) []string { return slices.Collect(maps.Keys(fs)) }
