package config_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sluice/internal/ops/config"
)

func TestLogStore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		environ []string
		want    config.LogStore
	}{
		{"usually files", nil, config.LogStore{Store: "local"}},
		{"the names of the field", []string{"LOG_STORE=s3", "LOG_STORE_GENERATIONS_BUCKET=logs", "LOG_STORE_BASEPATH=http://minio:9000"},
			config.LogStore{Store: "s3", Bucket: "logs", Endpoint: "http://minio:9000", PathStyle: true}},
		{"a choice is left alone", []string{"LOG_STORE=s3", "LOG_STORE_BUCKET=logs", "LOG_STORE_ENDPOINT=https://s3.example.com", "LOG_STORE_PATH_STYLE=off"},
			config.LogStore{Store: "s3", Bucket: "logs", Endpoint: "https://s3.example.com"}},
		{"Google", []string{"LOG_STORE=gcs", "LOG_STORE_BUCKET=logs"}, config.LogStore{Store: "gcs", Bucket: "logs"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, err := config.Load(config.Sources{Environ: c.environ})
			require.NoError(t, err)
			s := l.Settings.LogStore
			assert.Equal(t, c.want, config.LogStore{Store: s.Store, Bucket: s.Bucket, Endpoint: s.Endpoint, PathStyle: s.PathStyle})
			assert.Equal(t, "blocks", s.Format)
		})
	}
}

func TestLogStoreFaults(t *testing.T) {
	t.Parallel()
	for environ, want := range map[string]string{
		"LOG_STORE=s3":                  "LOG_STORE_BUCKET",
		"LOG_STORE=ftp":                 "one of local, s3, gcs",
		"LOG_STORE_BUCKET=a/b":          "LOG_STORE_BUCKET",
		"LOG_STORE_ACCESS_KEY=AKIA":     "LOG_STORE_SECRET_KEY",
		"LOG_STORE_PREFIX=../up":        "LOG_STORE_PREFIX",
		"LOG_STORE_FILE_PATH_FORMAT=v3": "one of blocks, v1, v2",
	} {
		_, err := config.Load(config.Sources{Environ: []string{environ}})
		require.Error(t, err, environ)
		assert.Contains(t, err.Error(), want)
	}
	l, err := config.Load(config.Sources{Environ: []string{"LOG_STORE_ACCESS_KEY=AKIA", "LOG_STORE_SECRET_KEY=very-secret"}})
	require.NoError(t, err)
	assert.NotContains(t, fmt.Sprintf("%+v", l.Settings), "very-secret")
}
