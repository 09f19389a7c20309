package record

import "time"

// NonAdditiveMetrics are the figures that do not add up: those of all rows together have to be
// worked out over all of them.
const NonAdditiveMetrics = MetricPercentiles | MetricUsers

// Add adds the figures of other attempts, without those of NonAdditiveMetrics.
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

// Bucket is when the bucket of a time begins, in UTC. Step must be given.
func (a *Analysis) Bucket(at time.Time) time.Time {
	// The zero time, from which Truncate counts, is the beginning of a Monday.
	return at.Add(a.Zone).Truncate(a.Step).Add(-a.Zone).UTC()
}
