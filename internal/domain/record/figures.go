package record

import "time"

// NonAdditiveMetrics are the metrics that cannot be added up: they must be calculated over all
// rows together.
const NonAdditiveMetrics = MetricPercentiles | MetricUsers

// Add adds the metrics of other attempts, except NonAdditiveMetrics.
func (f *Metrics) Add(g *Metrics) {
	for _, sum := range []struct {
		to *int64
		n  int64
	}{
		{&f.Requests, g.Requests}, {&f.Errors, g.Errors}, {&f.Cost, g.Cost}, {&f.Tokens, g.Tokens}, {&f.Input, g.Input}, {&f.Output, g.Output},
		{&f.UserRequests, g.UserRequests}, {&f.ByRetry, g.ByRetry}, {&f.ByFallback, g.ByFallback}, {&f.SimpleHits, g.SimpleHits},
		{&f.SemanticHits, g.SemanticHits}, {&f.SimpleSaved, g.SimpleSaved}, {&f.SemanticSaved, g.SemanticSaved}, {&f.Feedbacks, g.Feedbacks}, {&f.Judged, g.Judged},
	} {
		*sum.to += sum.n
	}
	f.Latency += g.Latency
	f.HitLatency += g.HitLatency
	f.Weighted += g.Weighted
	if f.First.IsZero() || !g.First.IsZero() && g.First.Before(f.First) {
		f.First = g.First
	}
	if g.Last.After(f.Last) {
		f.Last = g.Last
	}
}

// Bucket returns the beginning of the bucket of a time, in UTC. Step is required.
func (a *Analysis) Bucket(at time.Time) time.Time {
	// The zero time, from which Truncate counts, is the beginning of a Monday.
	return at.Add(a.Zone).Truncate(a.Step).Add(-a.Zone).UTC()
}
