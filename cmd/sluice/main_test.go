package main

import (
	"context"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a setting is set to may hold whatever separates things elsewhere.
func TestValuesOfFlagsAreTakenWhole(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"a;b", "a;DB_NAME=b", "a,b", "a=b", `a\;b\`, "ü;;"} {
		var c cli
		_, err := kong.Must(&c, kong.Name("sluice"), kong.BindTo(t.Context(), (*context.Context)(nil))).
			Parse([]string{"config", "--set", "DB_USER=" + value, "--set", "DB_HOST=h"})
		require.NoError(t, err)
		assert.Equal(t, map[string]string{"DB_USER": value, "DB_HOST": "h"}, c.Settings.Set)
	}
}

// A command line that cannot be read says on one line why, and where its flags are told.
func TestMisuseIsOneLine(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"serve --prot 3":                 `unknown flag --prot, did you mean "--port"?; see sluice serve --help`,
		"sevre":                          `unexpected argument sevre, did you mean "serve"?; see sluice --help`,
		"keys create":                    "missing flags: --name=STRING; see sluice keys create --help",
		"keys create --name x --type no": `--type must be one of "organisation-service","workspace-service" but got "no"; see sluice keys create --help`,
	} {
		var c cli
		parser := kong.Must(&c, kong.Name("sluice"), kong.BindTo(t.Context(), (*context.Context)(nil)))
		_, err := parser.Parse(strings.Fields(args))
		require.Error(t, err)
		assert.Equal(t, want, misused(err))
	}
}
