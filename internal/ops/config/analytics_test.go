package config_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sluice/internal/ops/config"
)

func TestAnalyticsStore(t *testing.T) {
	t.Parallel()
	cert, _ := keyPair(t)
	for _, c := range []struct {
		name    string
		environ []string
		store   string
		roots   bool
	}{
		{name: "none", store: "duckdb"},
		{name: "an address", environ: []string{"ANALYTICS_STORE_URL=https://ch.internal:8443", "ANALYTICS_STORE_CA=" + cert}, store: "clickhouse", roots: true},
		{name: "an endpoint", environ: []string{"ANALYTICS_STORE_ENDPOINT=http://10.0.0.7:8123/"}, store: "clickhouse"},
		{name: "an address that is not used", environ: []string{"ANALYTICS_STORE_URL=http://ch:8123", "ANALYTICS_STORE=DuckDB"}, store: "duckdb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, err := config.Load(config.Sources{Environ: c.environ})
			require.NoError(t, err)
			a := l.Settings.Analytics
			assert.Equal(t, c.store, a.Store)
			assert.Equal(t, c.roots, a.TLSConfig().RootCAs != nil)
		})
	}
	for _, bad := range [][]string{
		{"ANALYTICS_STORE=clickhouse"}, {"ANALYTICS_STORE=sqlite"}, {"ANALYTICS_STORE_URL=ch:8123"}, {"ANALYTICS_STORE_URL=tcp://ch:9000"},
		{"ANALYTICS_STORE_URL=http://u:p@ch:8123"}, {"ANALYTICS_STORE_URL=http://ch:8123/?database=x"}, {"ANALYTICS_STORE_URL=http://ch/path"},
		{"ANALYTICS_STORE_DATABASE=a-b"}, {"ANALYTICS_STORE_CA=none"},
	} {
		_, err := config.Load(config.Sources{Environ: bad})
		assert.Error(t, err, bad)
	}
}
