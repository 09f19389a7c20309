package credential

import "strings"

// SplitModel splits "@slug/model" into the slug of a saved provider and the model. Any other
// name is the model, unchanged, and slug is empty.
// Source: spec, Chat request shape.
func SplitModel(name string) (slug, model string) {
	if rest, ok := strings.CutPrefix(name, "@"); ok {
		if slug, model, ok := strings.Cut(rest, "/"); ok && slug != "" {
			return slug, model
		}
	}
	return "", name
}
