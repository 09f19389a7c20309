package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sluice/internal/ops/telemetry"
)

func TestLogHasNoLogins(t *testing.T) {
	t.Parallel()
	for _, format := range []string{telemetry.Text, telemetry.JSON} {
		var out strings.Builder
		log, err := telemetry.NewLogger(logWriter{&out}, format, "info")
		require.NoError(t, err)
		log.Warn("a collector takes nothing", "provider", "@demo", "error", errors.New(`Post "http://name:hidden@127.0.0.1:1/v1/metrics": refused`))
		log.Info("plain", "path", "/v1/models/@demo")
		assert.NotContains(t, out.String(), "name:")
		assert.NotContains(t, out.String(), "hidden")
		assert.Contains(t, out.String(), "http://***@127.0.0.1:1/v1/metrics")
		assert.Contains(t, out.String(), "@demo")
		assert.Equal(t, 2, strings.Count(out.String(), "\n"))
	}
}
