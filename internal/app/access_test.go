package app

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/telemetry/accesslog"
)

// adminCall is a request that is not model traffic and the members of its access line; "*"
// stands for any value, "" for a member that must be absent.
type adminCall struct {
	name, method, path, key, body string
	status                        int
	want                          map[string]string
}

// Lines of the administration say who called, where, and why a call was refused, with the
// keys of model calls.
func TestAccessLine_OfTheAdministration(t *testing.T) {
	t.Parallel()
	var first FirstKeys
	set := freshSettings(t)
	_, err := SetPassword(t.Context(), set, discard, "owner@localhost", sealed.New("correct horse battery"), func(made FirstKeys) { first = made })
	require.NoError(t, err)
	var out bytes.Buffer
	lines := accesslog.New(&out, "json", discard)
	a, err := New(t.Context(), set, Options{Log: discard, HasGOGC: true, AccessLog: lines})
	require.NoError(t, err)
	t.Cleanup(func() { _ = a.Close() })
	router := a.newRouter()

	const invite = "inv_0123456789abcdefghijklmnopqrstuvwxyz"
	calls := []adminCall{
		{"a read", "GET", "/v1/configs", first.Workspace, "", 200, map[string]string{"key_id": "*", "workspace": "*", "user_id": "", "error": "", "code": "", "remote": "192.0.2.1"}},
		{"an Admin key", "GET", "/v1/integrations", first.Admin, "", 200, map[string]string{"key_id": "*", "workspace": ""}},
		{"a record that is not there", "GET", "/v1/configs/none", first.Workspace, "", 404, map[string]string{"key_id": "*", "workspace": "*", "error": "*", "code": "not_found"}},
		{"a bad body", "POST", "/v1/configs", first.Workspace, `{"name": 5}`, 400, map[string]string{"key_id": "*", "workspace": "*", "error": "*", "code": "invalid_request"}},
		{"a wrong key", "GET", "/v1/configs", "wrong", "", 401, map[string]string{"key_id": "", "workspace": "", "error": "*", "code": "*"}},
		{"no key", "GET", "/v1/configs", "", "", 401, map[string]string{"key_id": "", "error": "*", "code": "*"}},
		{"an unknown route", "GET", "/v1/configz", first.Admin, "", 404, map[string]string{"error": "*", "code": "unknown_route"}},
		{"a wrong method", "PATCH", "/v1/configs", first.Admin, "", 405, map[string]string{"error": "*", "code": "unknown_route"}},
		{"a path without an owner", "GET", "/nothing-there", first.Admin, "", 404, map[string]string{"error": "*", "code": "unknown_route"}},
		{"a wrong method at a path with a secret", "PATCH", "/v1/admin/users/invites/" + invite + "/accept", first.Admin, "", 405, map[string]string{"error": "*", "code": "unknown_route"}},
		{"a mistyped path with a secret", "POST", "/v1/admin/users/invites/" + invite + "/acept", first.Admin, "", 404, map[string]string{"error": "*"}},
		{"a secret in a path without an owner", "POST", "/nothing/" + invite, first.Admin, "", 404, map[string]string{"error": "*"}},
		{"a login", "POST", "/v1/auth/login", "", `{"email": "owner@localhost", "password": "correct horse battery"}`, 200, map[string]string{"user_id": "*", "key_id": "", "error": ""}},
		{"a login that fails", "POST", "/v1/auth/login", "", `{"email": "who@localhost", "password": "x"}`, 401, map[string]string{"user_id": "", "error": "*", "code": "*"}},
	}
	for _, c := range calls {
		req := httptest.NewRequestWithContext(t.Context(), c.method, c.path, strings.NewReader(c.body))
		if c.key != "" {
			req.Header.Set("X-Gateway-Api-Key", c.key)
		}
		w := httptest.NewRecorder()
		router.ServeHTTP(w, req)
		assert.Equal(t, c.status, w.Code, "%s: %s", c.name, w.Body)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	require.NoError(t, lines.Run(ended))
	assert.NotContains(t, out.String(), invite)
	written := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, written, len(calls))
	for i, c := range calls {
		c.check(t, written[i])
	}
}

func (c adminCall) check(t *testing.T, written string) {
	t.Helper()
	var line map[string]any
	require.NoError(t, json.Unmarshal([]byte(written), &line))
	assert.EqualValues(t, c.status, line["status"], c.name)
	assert.NotEmpty(t, line["request_id"], c.name)
	for key, want := range c.want {
		switch got, _ := line[key].(string); want {
		case "*":
			assert.NotEmpty(t, got, "%s: %s", c.name, key)
		default:
			assert.Equal(t, want, got, "%s: %s", c.name, key)
		}
	}
}
