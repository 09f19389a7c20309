package otlp_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sluice/internal/ops/telemetry/otlp"
)

func TestParsePairs(t *testing.T) {
	t.Parallel()
	pairs, err := otlp.ParsePairs(" a=1, b=x%3Dy%2C%20z ,,c=")
	require.NoError(t, err)
	assert.Equal(t, []otlp.Pair{{"a", "1"}, {"b", "x=y, z"}, {"c", ""}}, pairs)
	for _, bad := range []string{"a", "=1", "a=%zz", strings.Repeat("a=1,", 65)} {
		_, err := otlp.ParsePairs(bad)
		assert.Error(t, err, bad)
	}
}
