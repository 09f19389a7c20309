package telemetry_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/telemetry"
)

func TestLoggerKeepsSecretsAndBodiesOut(t *testing.T) {
	t.Parallel()
	type login struct{ Password sealed.String }
	long := strings.Repeat("ü", 5000)
	for _, c := range []struct {
		name string
		attr slog.Attr
		want string
	}{
		{"plain", slog.String("provider", "openai"), "openai"},
		{"number", slog.Int("status", 200), "200"},
		{"sealed", slog.Any("key", sealed.New("sk-live")), sealed.Mask},
		{"sealed in a struct", slog.Any("login", login{sealed.New("sk-live")}), sealed.Mask},
		{"named like a secret", slog.String("Authorization", "Bearer sk-live"), sealed.Mask},
		{"header named like a secret", slog.String("x-api-key", "sk-live"), sealed.Mask},
		{"in a group", slog.Group("request", slog.String("api_key", "sk-live")), sealed.Mask},
		{"long text", slog.String("detail", long), "ü…"},
		{"long error", slog.Any("error", errors.New(long)), "ü…"},
		{"short error", slog.Any("error", errors.New("refused")), "refused"},
	} {
		for _, format := range []string{telemetry.Text, telemetry.JSON} {
			t.Run(c.name+" "+format, func(t *testing.T) {
				t.Parallel()
				var out strings.Builder
				log, err := telemetry.NewLogger(&out, format, "info")
				require.NoError(t, err)
				log.LogAttrs(t.Context(), slog.LevelInfo, "call", c.attr)
				assert.Contains(t, out.String(), c.want)
				assert.NotContains(t, out.String(), "sk-live")
				assert.Less(t, len(out.String()), 4500)
				assert.True(t, utf8.ValidString(out.String()))
				if format == telemetry.JSON {
					assert.True(t, json.Valid([]byte(out.String())))
				}
			})
		}
	}
}

func TestLoggerLevels(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	log, err := telemetry.NewLogger(&out, telemetry.Text, "warn")
	require.NoError(t, err)
	log.Info("quiet")
	log.Warn("loud")
	assert.NotContains(t, out.String(), "quiet")
	assert.Contains(t, out.String(), "loud")
}

func TestLoggerRefusesUnknownWords(t *testing.T) {
	t.Parallel()
	_, err := telemetry.NewLogger(nil, telemetry.Text, "loud")
	require.ErrorContains(t, err, "use debug, info, warn or error")
	_, err = telemetry.NewLogger(nil, "xml", "info")
	require.ErrorContains(t, err, "use text or json")
}
