package target

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Records is how many records the journal has taken.
func (s *Sluice) Records(ctx context.Context) (int64, error) {
	return s.metric(ctx, "sluice_journal_records_total")
}

// AwaitIngest waits until the request log has caught up with the journal.
func (s *Sluice) AwaitIngest(ctx context.Context) error {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		lag, err := s.metric(ctx, "sluice_journal_lag_records")
		if err != nil || lag == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the request log lags %d records behind: %w", lag, ctx.Err())
		case <-ticker.C:
		}
	}
}

// metric reads one figure of /metrics.
func (s *Sluice) metric(ctx context.Context, name string) (int64, error) {
	page, err := s.metrics(ctx)
	if err != nil {
		return 0, err
	}
	return parseMetric(page, name)
}

func (s *Sluice) metrics(ctx context.Context) (string, error) {
	return get(ctx, &s.http, "http://"+s.Addr+"/metrics")
}

// parseMetric finds a figure without labels on a page of metrics.
func parseMetric(page, name string) (int64, error) {
	for line := range strings.Lines(page) {
		if v, ok := strings.CutPrefix(line, name+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
			return int64(n), err
		}
	}
	return 0, fmt.Errorf("no figure %s among the metrics", name)
}

// Cost is what calls cost so far, in dollars.
func (s *Sluice) Cost(ctx context.Context) (float64, error) {
	page, err := s.metrics(ctx)
	if err != nil {
		return 0, err
	}
	var sum float64
	for _, v := range seriesOf(page, "sluice_cost_dollars_total", "state") {
		sum += v
	}
	return sum, nil
}

// Trips are the round trips to Redis so far: those that calls waited for, and all others.
func (s *Sluice) Trips(ctx context.Context) (waited, others int64, err error) {
	page, err := s.metrics(ctx)
	if err != nil {
		return 0, 0, err
	}
	for script, n := range seriesOf(page, "sluice_redis_duration_seconds_count", "script") {
		if script == "take" {
			waited += int64(n)
		} else {
			others += int64(n)
		}
	}
	return waited, others, nil
}

// seriesOf adds up the figures of a name on a page of metrics by the value of a label.
func seriesOf(page, name, label string) map[string]float64 {
	totals := map[string]float64{}
	for line := range strings.Lines(page) {
		labels, figure, ok := strings.Cut(strings.TrimSpace(line), "} ")
		if rest, found := strings.CutPrefix(labels, name+"{"); ok && found {
			_, value, _ := strings.Cut(rest, label+`="`)
			value, _, _ = strings.Cut(value, `"`)
			if v, err := strconv.ParseFloat(figure, 64); err == nil {
				totals[value] += v
			}
		}
	}
	return totals
}
