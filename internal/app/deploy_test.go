package app

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sluice/internal/limits/redis"
	"sluice/internal/ops/config"
	"sluice/internal/ops/telemetry/accesslog"
	"sluice/internal/ops/telemetry/otlp"
	"sluice/internal/storage/requestlog/objects"
)

// The dashboard and the alert rules speak of metrics that a gateway has.
func TestDeployedRulesNameMetricsThatExist(t *testing.T) {
	t.Parallel()
	known := metricsOf(t)
	for _, e := range append(dashboard(t), alerts(t)...) {
		names := metricName.FindAllString(e, -1)
		assert.NotEmpty(t, names, "%s asks for nothing", e)
		for _, n := range names {
			assert.True(t, known[n] || known[histogramPart.ReplaceAllString(n, "")], "%s, in %s, is no metric", n, e)
		}
		for _, pair := range []string{"()", "{}", "[]"} {
			assert.Equal(t, strings.Count(e, pair[:1]), strings.Count(e, pair[1:]), "brackets in %s", e)
		}
	}
}

// metricsOf are the names of all metrics that a gateway may have.
func metricsOf(t *testing.T) map[string]bool {
	t.Helper()
	s := config.Default()
	s.Data.Dir, s.Server.Port = t.TempDir(), 0
	s.TLS.Cert, s.TLS.Key = certificate(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour), []string{"gw"})
	a, err := New(context.Background(), s, Options{Version: "test", Log: discard})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, a.Close()) })
	a.metrics.Register(redis.NewMetrics().Collectors()...)                     // of a gateway that shares limits
	otlp.NewDeliveryCounters(a.metrics)                                        // and has a collector
	a.metrics.Register(accesslog.New(io.Discard, "text", discard).Collector()) // and an access log
	known := described(a.metrics)
	maps.Copy(known, described((*objects.Bucket)(nil))) // of one whose bodies are in a bucket
	require.Contains(t, known, "sluice_requests_total")
	return known
}

var documentedMetric = regexp.MustCompile("`(sluice_[a-z0-9_]+)")

// documentedMetrics returns the names of metrics in docs, each with a page that names it.
func documentedMetrics(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	require.NoError(t, err)
	pages := make(map[string]string)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, n := range documentedMetric.FindAllStringSubmatch(string(text), -1) {
			pages[n[1]] = f
		}
	}
	require.NotEmpty(t, pages)
	return pages
}

func TestDocumentedMetrics_Exist(t *testing.T) {
	t.Parallel()
	known := metricsOf(t)
	for name, page := range documentedMetrics(t) {
		exists := known[name] || known[histogramPart.ReplaceAllString(name, "")]
		if strings.HasSuffix(name, "_") { // `sluice_ledger_*`
			exists = slices.ContainsFunc(slices.Collect(maps.Keys(known)), func(k string) bool { return strings.HasPrefix(k, name) })
		}
		assert.True(t, exists, "%s names the metric %s, which does not exist", page, name)
	}
}

func TestMetrics_AreDocumented(t *testing.T) {
	t.Parallel()
	pages := documentedMetrics(t)
	for name := range metricsOf(t) {
		if strings.HasPrefix(name, "sluice_") && pages[name] == "" {
			t.Errorf("no page of docs names the metric %s: add it to docs/telemetry.md", name)
		}
	}
}

var (
	metricName    = regexp.MustCompile(`\b(sluice|process|go)_[a-z0-9_]+`)
	histogramPart = regexp.MustCompile(`_(bucket|sum|count)$`)
	descName      = regexp.MustCompile(`fqName: "([a-z0-9_]+)"`)
)

// described are the names of all figures of a registry, those without a value too.
func described(c interface{ Describe(chan<- *prometheus.Desc) }) map[string]bool {
	out, ch := map[string]bool{}, make(chan *prometheus.Desc)
	go func() { c.Describe(ch); close(ch) }()
	for d := range ch {
		if m := descName.FindStringSubmatch(d.String()); m != nil {
			out[m[1]] = true
		}
	}
	return out
}

// dashboard gives the expressions of the dashboard.
func dashboard(t *testing.T) (exprs []string) {
	b, err := os.ReadFile(filepath.Join("..", "..", "deploy", "grafana", "sluice.json"))
	require.NoError(t, err)
	var d struct {
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(b, &d))
	ids := map[int]bool{}
	for _, p := range d.Panels {
		assert.False(t, ids[p.ID], "%s has the id of another panel", p.Title)
		ids[p.ID] = true
		for _, q := range p.Targets {
			exprs = append(exprs, q.Expr)
		}
	}
	require.NotEmpty(t, exprs)
	return exprs
}

// alerts gives the expressions of the alert rules, of which each has what Prometheus wants.
func alerts(t *testing.T) (exprs []string) {
	b, err := os.ReadFile(filepath.Join("..", "..", "deploy", "prometheus", "alerts.yaml"))
	require.NoError(t, err)
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	require.NoError(t, yaml.UnmarshalWithOptions(b, &file, yaml.Strict()))
	seen := map[string]bool{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			assert.False(t, seen[r.Alert], "%s is duplicated", r.Alert)
			seen[r.Alert] = true
			assert.Contains(t, []string{"critical", "warning", "info"}, r.Labels["severity"], r.Alert)
			assert.NotEmpty(t, r.Annotations["summary"], r.Alert)
			exprs = append(exprs, r.Expr)
		}
	}
	require.NotEmpty(t, exprs)
	return exprs
}
