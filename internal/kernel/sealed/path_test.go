package sealed_test

import (
	"testing"

	"sluice/internal/kernel/sealed"
)

func TestPath(t *testing.T) {
	t.Parallel()
	const random = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY"
	const secret = "inv_mzKq3vR8xT1yB5nJ7wLcD2fG4hS6aE9uP0oI-_QZkXs"
	for path, want := range map[string]string{
		"/v1/admin/users/invites/" + secret + "/accept": "/v1/admin/users/invites/***/accept",
		"/v1/admin/user/invites/" + secret + "/acept":   "/v1/admin/user/invites/***/acept",
		"/" + secret: "/***",
		"/v1/ses_abcdefghijklmnopqrstuvwxyz0123456789":                                     "/v1/***",
		"/v1/files/inv_2026":                                                               "/v1/files/inv_2026",
		"/v1/files/analyses_of_the_last_quarter_of_2026":                                   "/v1/files/analyses_of_the_last_quarter_of_2026",
		"/v1/configs/sk-live-0123456789":                                                   "/v1/configs/***",
		"/v1/configs/sk%2Dlive-0123456789/x":                                               "/v1/configs/***/x",
		"/v1/api-keys/acme-" + random + "/rotate":                                          "/v1/api-keys/***/rotate",
		"/v1/x/Bearer%20sk-abc/y":                                                          "/v1/x/***/y",
		"/v1/x/Bearer abcdefghijkl":                                                        "/v1/x/***",
		"/v1/x/AKIAIOSFODNN7EXAMPLE/AKIA":                                                  "/v1/x/***/AKIA",
		"/v1/x/xoxb-123456789012-abcdef":                                                   "/v1/x/***",
		"/v1/x/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl":                          "/v1/x/***",
		"/v1/x/ghp_abcdefghijklmnopqrst?page=sk-live-0123456789":                           "/v1/x/***?page=sk-live-0123456789",
		"/sk-live-0123456789/sk-live-9876543210":                                           "/***/***",
		"/v1/configs/sk-learn":                                                             "/v1/configs/sk-learn",
		"/v1/responses/resp_68a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b0c1d2e3":              "/v1/responses/resp_68a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b0c1d2e3",
		"/v1/files/file-AbCdEf0123456789AbCdEf":                                            "/v1/files/file-AbCdEf0123456789AbCdEf",
		"/v1/configs/018f3c1e-7b2a-7c3d-9e4f-0123456789ab":                                 "/v1/configs/018f3c1e-7b2a-7c3d-9e4f-0123456789ab",
		"/openai/deployments/gpt-4o-mini-transcribe-2026-01-01/chat/completions":           "/openai/deployments/gpt-4o-mini-transcribe-2026-01-01/chat/completions",
		"/model/arn:aws:bedrock:us-east-1:123456789012:inference-profile%2Fus.anthropic.x": "/model/arn:aws:bedrock:us-east-1:123456789012:inference-profile%2Fus.anthropic.x",
		"": "",
	} {
		if got := sealed.Path(path); got != want {
			t.Errorf("%s is shown as %s, want %s", path, got, want)
		}
	}
}

func TestPath_TakesNoMemoryWithoutASecret(t *testing.T) {
	for _, path := range []string{"/v1/chat/completions", "/openai/deployments/gpt-4o-mini-transcribe-2026-01-01/chat/completions"} {
		if n := testing.AllocsPerRun(100, func() { sealed.Path(path) }); n > 0 {
			t.Errorf("%s: %v allocations", path, n)
		}
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"vault_tokn": "vault_tokn", "": "", "sk-live-0123456789": "***", "Bearer a/b0123456789": "***", "x/sk-live-0123456789": "x/***",
		"x-gateway-azure-api-version": "x-gateway-azure-api-version",
	} {
		if got := sealed.Name(name); got != want {
			t.Errorf("%s is shown as %s, want %s", name, got, want)
		}
	}
}

func TestProse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "sk-live-0123456789: unknown field, did you mean “key”?": "***: unknown field, did you mean “key”?",
		"rate_limits[0].sk-live-0123456789.x is required; \"key\": must be a UUID": "rate_limits[0].***.x is required; \"key\": must be a UUID",
		"the key sk-live-0123456789.": "the key ***.", "\xff": "\xff",
	} {
		if got := sealed.Prose(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

func BenchmarkPath(b *testing.B) {
	for b.Loop() {
		sealed.Path("/v1/chat/completions")
	}
}
