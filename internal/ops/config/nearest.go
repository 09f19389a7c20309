package config

import "strings"

// prefixes begin the names that are ours in everybody's environment.
var prefixes = []string{"DB_", "TLS_", "LOG_", "CORS_", "SLUICE_"}

// warnMisspelt warns of a variable that looks like a misspelt setting.
func (l *loader) warnMisspelt(name string) {
	if _, known := l.schema.find(name); known || name == FileVariable {
		return
	}
	for _, prefix := range prefixes {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		if near := l.nearest(name); near != "" {
			l.warnings = append(l.warnings, "the variable "+name+" is not a setting and has no effect; did you mean "+near+"?")
		}
	}
}

// nearest is the setting that name was probably meant to be, or "". A setting with
// the product's name before it, a longer form of it (DB_PASSWORD) and up to two
// wrong letters are recognised.
func (l *loader) nearest(name string) string {
	bare := strings.TrimPrefix(name, "SLUICE_")
	best, minDistance := "", 3
	for _, s := range l.schema {
		d := distance(bare, s.name)
		if d > 0 && len(s.name) > 5 && strings.HasPrefix(bare, s.name) {
			d = 2
		}
		if d < minDistance || d == minDistance && len(s.name) > len(best) && best != "" {
			best, minDistance = s.name, d
		}
	}
	return best
}

// distance is the Levenshtein distance of two short names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
