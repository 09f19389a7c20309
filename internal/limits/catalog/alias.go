package catalog

import "strings"

// aliased finds the entry of a model by its own name or, if the list does not have that, by
// the name that it refers to:
//
//	ft:gpt-4o-mini:acme::id     ft:gpt-4o-mini, which has the prices of all models tuned from
//	                            gpt-4o-mini, else gpt-4o-mini itself
//	claude-opus-4-1-20250805    the name without the date: -20250805, -2025-08-05, @20250805
//	claude-opus-4-1@default     the name without the suffix
//	claude-opus-4-1-latest      the name without the suffix, else its newest dated name
//	claude-opus-4-1             its newest dated name
//
// dated contains the newest dated names, by the names without a date.
func aliased[T any](all, dated map[string]T, provider, model string) (T, bool) {
	from, tuned := tunedFrom(model)
	if !tuned {
		return aliasedPlain(all, dated, provider, model)
	}
	if v, ok := find(all, provider, model); ok {
		return v, true
	}
	if v, ok := aliasedPlain(all, dated, provider, tunedPrefix+from); ok {
		return v, true
	}
	return aliasedPlain(all, dated, provider, from)
}

// aliasedPlain is aliased without the rules for tuned models.
func aliasedPlain[T any](all, dated map[string]T, provider, model string) (T, bool) {
	for range aliasSteps {
		if v, ok := find(all, provider, model); ok {
			return v, true
		}
		if v, ok := find(dated, provider, model); ok {
			return v, true
		}
		if model = base(model); model == "" {
			break
		}
	}
	var none T
	return none, false
}

// aliasSteps is the maximum number of names that are tried.
const aliasSteps = 4

const tunedPrefix = "ft:" // prefix of the names of tuned models

// tunedFrom returns the model from which a model was tuned, according to its name.
func tunedFrom(model string) (from string, tuned bool) {
	rest, tuned := strings.CutPrefix(model, tunedPrefix)
	from, _, _ = strings.Cut(rest, ":")
	return from, tuned && from != ""
}

// tunedPrices reports whether a name of a list is only that of the prices of tuned models,
// such as "ft:gpt-4o-mini", and not of a model that can be called.
func tunedPrices(name string) bool {
	from, tuned := tunedFrom(name)
	return tuned && name == tunedPrefix+from
}

// base returns the name that an alias refers to, or empty if model is not an alias.
func base(model string) string {
	for _, suffix := range [...]string{"-latest", "@latest", "@default"} {
		if name, ok := strings.CutSuffix(model, suffix); ok {
			return name
		}
	}
	name, _ := undated(model)
	return name
}

// undated is a name without the date at its end, and the date by which such names are put in
// order, "20250805"; empty for one without a date.
func undated(model string) (name, date string) {
	const plain, dashed = len("-20250805"), len("-2025-08-05")
	if n := len(model) - plain; n > 0 && (model[n] == '-' || model[n] == '@') && isDate(model[n+1:]) {
		return model[:n], model[n+1:]
	}
	if n := len(model) - dashed; n > 0 && model[n] == '-' && model[n+5] == '-' && model[n+8] == '-' {
		if d := model[n+1:n+5] + model[n+6:n+8] + model[n+9:]; isDate(d) {
			return model[:n], d
		}
	}
	return "", ""
}

// isDate reports whether a text is a day of this century: "20250805".
func isDate(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return len(s) == len("20250805") && strings.HasPrefix(s, "20") && s[4:6] >= "01" && s[4:6] <= "12" && s[6:] >= "01" && s[6:] <= "31"
}

// newestDated has the newest dated name of each model by its name without the date.
func newestDated[T any](all map[string]T) map[string]T {
	out, dates := make(map[string]T), make(map[string]string)
	for model, v := range all {
		if name, date := undated(model); date > dates[name] {
			out[name], dates[name] = v, date
		}
	}
	return out
}
