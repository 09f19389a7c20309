package routing

import (
	"maps"
	"slices"
)

// FieldNames returns the names of all fields of the config language, at every depth and in
// both spellings, each once and in no particular order: "override_params", "overrideParams",
// "openai_project". It includes the operators of queries. The caller owns the slice.
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
