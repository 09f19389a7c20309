package catalog

import "strings"

// aliased finds the entry of a model that a list does not have by its own name, under the
// name that it stands for:
//
//	ft:gpt-4o-mini:acme::id     ft:gpt-4o-mini, which has the prices of all that were tuned from
//	                            that model, else the model itself
//	claude-opus-4-1-20250805    its name without the date: -20250805, -2025-08-05, @20250805
//	claude-opus-4-1@default     its name without that
//	claude-opus-4-1-latest      its name without that, else its newest dated name
//	claude-opus-4-1             its newest dated name
//
// Dated are the newest dated names by those without a date.
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

// aliasedPlain is aliased of a name, whatever it was tuned from.
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

// aliasSteps is how many names are tried.
const aliasSteps = 4

const tunedPrefix = "ft:" // of the names of tuned models

// tunedFrom is the model that another one was tuned from, by its name.
func tunedFrom(model string) (from string, tuned bool) {
	rest, tuned := strings.CutPrefix(model, tunedPrefix)
	from, _, _ = strings.Cut(rest, ":")
	return from, tuned && from != ""
}

// tunedPrices reports whether a name of a list is that of the prices of tuned models, and
// not of a model that can be called: "ft:gpt-4o-mini".
func tunedPrices(name string) bool {
	from, tuned := tunedFrom(name)
	return tuned && name == tunedPrefix+from
}

// base is the name that an alias stands for; empty for what is no alias.
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
