package requestlogtest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/internal/domain/record"
)

// Analyse implements requestlog.RowStore. It is the reference for the metrics: every other back
// end must return the same.
func (m *Memory) Analyse(_ context.Context, a record.Analysis) (record.AnalysisPage, error) {
	if err := a.Validate(); err != nil {
		return record.AnalysisPage{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	groups := make(map[groupKey]*group)
	if a.Step == 0 && a.By == record.ByNothing {
		groups[groupKey{}] = new(group)
	}
	for i := range m.rows {
		if row := &m.rows[i].Attempt; m.matches(row, a.Query) {
			m.put(groups, row, &a)
		}
	}
	m.addFeedback(groups)
	rows := make([]record.AnalysisRow, 0, len(groups))
	for key, g := range groups {
		rows = append(rows, record.AnalysisRow{Start: key.start, Value: key.value, Metrics: g.metrics(a.Metrics, a.By)})
	}
	slices.SortFunc(rows, func(x, y record.AnalysisRow) int { return order(&a, &x, &y) })
	return page(&a, rows)
}

// page returns the requested page of rows.
func page(a *record.Analysis, rows []record.AnalysisRow) (record.AnalysisPage, error) {
	size, cut := a.PageSize()
	if len(rows) > size && !cut {
		return record.AnalysisPage{}, record.TooMany()
	}
	out := record.AnalysisPage{Total: int64(len(rows))}
	rows = rows[min(a.Offset, len(rows)):]
	out.Rows = rows[:min(size, len(rows))]
	return out, nil
}

// groupKey identifies a row of the result by its step and value.
type groupKey struct {
	start time.Time
	value string
}

// group contains the attempts of a result row and the feedback on their traces. It contains
// each attempt and each feedback once.
type group struct {
	attempts      []*record.Attempt
	feedback      []record.TraceFeedback
	traceFeedback map[string][]record.TraceFeedback // feedback on the trace, by attempt ID
}

// put adds an attempt to its groups. Grouped by score, an attempt can have several groups.
func (m *Memory) put(groups map[groupKey]*group, row *record.Attempt, a *record.Analysis) {
	var start time.Time
	if a.Step > 0 { // Truncate counts from the zero time, the first hour of a Monday
		start = row.Started.UTC().Add(a.Zone).Truncate(a.Step).Add(-a.Zone)
	}
	feedbacks := m.feedback.forAttempt(row)
	byValue := make(map[string][]record.TraceFeedback)
	if a.By == record.ByScore {
		for _, f := range feedbacks {
			score := strconv.Itoa(f.Value)
			byValue[score] = append(byValue[score], f)
		}
	} else if value, has := valueOf(row, a); has {
		byValue[value] = feedbacks
	}
	for value, feedbacks := range byValue {
		key := groupKey{start, value}
		g := groups[key]
		if g == nil {
			g = new(group)
			groups[key] = g
		}
		if g.traceFeedback == nil {
			g.traceFeedback = make(map[string][]record.TraceFeedback)
		}
		g.attempts = append(g.attempts, row)
		g.traceFeedback[row.ID] = feedbacks
	}
}

// addFeedback counts each feedback once for each value: in the first step that has it.
func (m *Memory) addFeedback(groups map[groupKey]*group) {
	type voice struct{ value, id string }
	counted := make(map[voice]bool)
	for _, key := range slices.SortedFunc(maps.Keys(groups), func(a, b groupKey) int { return a.start.Compare(b.start) }) {
		g := groups[key]
		for _, feedbacks := range g.traceFeedback {
			for _, f := range feedbacks {
				if v := (voice{key.value, f.ID}); !counted[v] {
					counted[v] = true
					g.feedback = append(g.feedback, f)
				}
			}
		}
	}
}

// endedWell reports whether an attempt succeeded, as is_success does for a log.
func endedWell(a *record.Attempt) bool { return a.Status >= 200 && a.Status <= 299 }

// valueOf returns the value by which the analysis groups an attempt. has is false if the
// attempt has no such value.
func valueOf(a *record.Attempt, by *record.Analysis) (value string, has bool) {
	switch by.By {
	case record.ByNothing:
		return "", true
	case record.ByScore: // put reads the scores from feedback
	case record.ByProvider:
		value = a.Provider
	case record.ByModel:
		value = a.Model
	case record.ByStatus:
		value = strconv.Itoa(int(a.Status))
	case record.ByKey:
		value = a.KeyID
	case record.ByConfig:
		value = a.ConfigID
	case record.ByWorkspace:
		value = a.WorkspaceID
	case record.ByProviderID:
		value = a.ProviderID
	case record.ByPrompt:
		value = a.PromptSlug
	case record.ByTrace:
		value = a.TraceID
	case record.ByUser:
		value = a.Metadata[record.UserKey]
	case record.ByMetadata:
		value = a.Metadata[by.Key]
	case record.ByUnpriced:
		if a.Spend.Unpriced != "" {
			value = a.Provider + " " + a.Spend.Unpriced + " " + a.Model
		}
	case record.ByRetries:
		if endedWell(a) && a.Retries > 0 {
			value = strconv.Itoa(int(a.Retries))
		}
	}
	return value, value != ""
}

// metrics returns the requested metrics of a group.
func (g *group) metrics(want record.MetricSet, by record.Dimension) (f record.Metrics) {
	if by == record.ByScore {
		want &= record.MetricFeedback
	} else {
		f.Requests = int64(len(g.attempts))
	}
	for metric, add := range addends {
		if want&metric != 0 {
			for _, a := range g.attempts {
				add(&f, a)
			}
		}
	}
	if want&record.MetricPercentiles != 0 {
		f.P50, f.P90, f.P95, f.P99 = g.percentile(50), g.percentile(90), g.percentile(95), g.percentile(99)
	}
	if want&record.MetricUsers != 0 {
		f.Users, f.UserRequests = g.users()
	}
	if want&record.MetricFeedback != 0 {
		for _, feedbacks := range g.feedback {
			f.Feedbacks++
			f.Weighted += feedbacks.Weighted()
		}
		for _, feedbacks := range g.traceFeedback {
			if len(feedbacks) > 0 {
				f.Judged++
			}
		}
	}
	return f
}

// addends contains functions that add an attempt to the metrics that are sums, counts or
// extremes.
var addends = map[record.MetricSet]func(*record.Metrics, *record.Attempt){
	record.MetricErrors: func(f *record.Metrics, a *record.Attempt) {
		if !endedWell(a) {
			f.Errors++
		}
	},
	record.MetricCost: func(f *record.Metrics, a *record.Attempt) {
		nano, _ := a.Cost()
		f.Cost += nano
	},
	record.MetricTokens: func(f *record.Metrics, a *record.Attempt) {
		f.Tokens += a.Tokens()
		f.Input += a.Usage.InputTokens
		f.Output += a.Usage.OutputTokens
	},
	record.MetricLatency: func(f *record.Metrics, a *record.Attempt) { f.Latency += a.Duration },
	record.MetricRescued: func(f *record.Metrics, a *record.Attempt) {
		if endedWell(a) && a.Retries > 0 {
			f.ByRetry++
		}
		if endedWell(a) && a.Number > 0 {
			f.ByFallback++
		}
	},
	record.MetricCache: func(f *record.Metrics, a *record.Attempt) {
		switch a.CacheStatus {
		case "HIT":
			f.SimpleHits++
			f.SimpleSaved += a.Spend.Saved
			f.HitLatency += a.Duration
		case "SEMANTIC HIT":
			f.SemanticHits++
			f.SemanticSaved += a.Spend.Saved
			f.HitLatency += a.Duration
		}
	},
	record.MetricSeen: func(f *record.Metrics, a *record.Attempt) {
		if f.First.IsZero() || a.Started.Before(f.First) {
			f.First = a.Started
		}
		if a.Started.After(f.Last) {
			f.Last = a.Started
		}
	},
}

// percentile returns the smallest duration that at least percent % of the attempts do not
// exceed.
func (g *group) percentile(percent int) time.Duration {
	if len(g.attempts) == 0 {
		return 0
	}
	all := make([]time.Duration, len(g.attempts))
	for i, a := range g.attempts {
		all[i] = a.Duration
	}
	slices.Sort(all)
	return all[(len(all)*percent+99)/100-1]
}

// users returns the number of distinct end users, and of attempts that have an end user.
func (g *group) users() (distinct, requests int64) {
	seen := make(map[string]bool)
	for _, a := range g.attempts {
		if user := a.Metadata[record.UserKey]; user != "" {
			seen[user] = true
			requests++
		}
	}
	return int64(len(seen)), requests
}

// order compares rows by their order in the result.
func order(a *record.Analysis, x, y *record.AnalysisRow) int {
	byValue := strings.Compare(x.Value, y.Value)
	if a.Step > 0 {
		return cmp.Or(x.Start.Compare(y.Start), byValue)
	}
	c := cmp.Compare(columnOf(a.Order, &x.Metrics), columnOf(a.Order, &y.Metrics))
	if !a.Ascending {
		c = -c
	}
	return cmp.Or(c, byValue)
}

// columnOf returns the value by which rows are ordered.
func columnOf(c record.Column, f *record.Metrics) float64 {
	switch c {
	case record.ColumnCost:
		return float64(f.Cost)
	case record.ColumnTokens:
		return float64(f.Tokens)
	case record.ColumnAvgTokens:
		return f.Per(float64(f.Tokens))
	case record.ColumnAvgInput:
		return f.Per(float64(f.Input))
	case record.ColumnAvgOutput:
		return f.Per(float64(f.Output))
	case record.ColumnAvgLatency:
		return f.Per(float64(f.Latency))
	case record.ColumnP95:
		return float64(f.P95)
	case record.ColumnP99:
		return float64(f.P99)
	case record.ColumnSuccessRate:
		return f.Per(float64(f.Requests - f.Errors))
	case record.ColumnErrors:
		return float64(f.Errors)
	case record.ColumnHitRate:
		return f.Per(float64(f.Hits()))
	case record.ColumnLast:
		return float64(f.Last.UnixMicro())
	case record.ColumnFirst:
		return float64(f.First.UnixMicro())
	default:
		return float64(f.Requests)
	}
}
