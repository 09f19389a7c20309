package guardrails

import "slices"

// SplitTextless splits hooks into those that read no text and the others.
func SplitTextless(hooks []*Hook) (textless, reading []*Hook) {
	for _, h := range hooks {
		if h.textless() {
			textless = append(textless, h)
		} else {
			reading = append(reading, h)
		}
	}
	return textless, reading
}

// SplitReports splits output hooks into those whose verdict a stream waits for, and those that only
// report: the latter deny nothing.
func SplitReports(hooks []*Hook) (deciding, reporting []*Hook) {
	for _, h := range hooks {
		if h.StreamMode() != StreamReport {
			deciding = append(deciding, h)
			continue
		}
		only := *h
		only.Deny = false
		reporting = append(reporting, &only)
	}
	return deciding, reporting
}

// Latest adds the results of further runs of hooks to the earlier ones. It keeps one result of each
// hook: the first denial, else the first failure, else the last one.
func Latest(earlier, further []Result) []Result {
	for _, r := range further {
		i := slices.IndexFunc(earlier, func(e Result) bool { return e.ID == r.ID && e.Type == r.Type })
		if i < 0 {
			earlier = append(earlier, r)
			continue
		}
		costs := earlier[i].Checks
		if e := &earlier[i]; r.severity() > e.severity() || r.severity() == e.severity() && r.Verdict {
			r.Transformed = r.Transformed || e.Transformed
			*e = r
		} else {
			e.Transformed = e.Transformed || r.Transformed
			costs = r.Checks
		}
		earlier[i].addCosts(costs)
	}
	return earlier
}

// severity orders results: a denial is above a failure, and a failure above a success.
func (r *Result) severity() int {
	switch {
	case r.Deny:
		return 2
	case !r.Verdict:
		return 1
	}
	return 0
}

// SkippedBy returns the results of hooks that could not read a text.
func SkippedBy(hooks []*Hook) []Result {
	out := make([]Result, 0, len(hooks))
	for _, h := range hooks {
		out = append(out, Result{ID: h.ID, Type: h.kind(), Skipped: true, Verdict: true, Checks: []CheckResult{}, VersionID: h.VersionID})
	}
	return out
}
