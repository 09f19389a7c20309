package sealed_test

import (
	"testing"

	"sluice/internal/sealed"
)

func TestPath(t *testing.T) {
	t.Parallel()
	const secret = "inv_mzKq3vR8xT1yB5nJ7wLcD2fG4hS6aE9uP0oI-_QZkXs"
	for path, want := range map[string]string{
		"/v1/admin/users/invites/" + secret + "/accept": "/v1/admin/users/invites/***/accept",
		"/v1/admin/user/invites/" + secret + "/acept":   "/v1/admin/user/invites/***/acept",
		"/" + secret: "/***",
		"/v1/ses_abcdefghijklmnopqrstuvwxyz0123456789":   "/v1/***",
		"/v1/files/inv_2026":                             "/v1/files/inv_2026",
		"/v1/files/analyses_of_the_last_quarter_of_2026": "/v1/files/analyses_of_the_last_quarter_of_2026",
		"": "",
	} {
		if got := sealed.Path(path); got != want {
			t.Errorf("%s is shown as %s, want %s", path, got, want)
		}
	}
}
