package sealed_test

import (
	"strings"
	"testing"

	"sluice/internal/kernel/sealed"
)

func TestTarget(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"/v1/x":                                              "/v1/x",
		"/v1/x?":                                             "/v1/x?",
		"/v1/x?a=b&c":                                        "/v1/x?a=b&c",
		"/v1/x?key=s3cr3t&page=2":                            "/v1/x?key=***&page=2",
		"/v1/x?Api-Key=s3cr3t":                               "/v1/x?Api-Key=***",
		"/v1/x?api%2Dkey=s3cr3t":                             "/v1/x?api%2Dkey=***",
		"/v1/x?%6Bey=s3cr3t":                                 "/v1/x?%6Bey=***",
		"/v1/x?X-Amz%2DSignature=s3cr3t":                     "/v1/x?X-Amz%2DSignature=***",
		"/v1/x?X-Goog-Signature=s3cr3t":                      "/v1/x?X-Goog-Signature=***",
		"/v1/x?tavilyApiKey=s3cr3t;sig=s3cr3t":               "/v1/x?tavilyApiKey=***;sig=***",
		"/v1/x?subscription-key=s3cr3t&x?code=s":             "/v1/x?subscription-key=***&x?code=***",
		"/v1/x?tokens=s3cr3t&pat=s3cr3t&PATs=s3cr3t":         "/v1/x?tokens=***&pat=***&PATs=***",
		"/v1/x?keys=s3cr3t&api_keys=s3cr3t&secrets=s3cr3t":   "/v1/x?keys=***&api_keys=***&secrets=***",
		"/v1/x?accessTokens=s3cr3t&passwords=s3cr3t":         "/v1/x?accessTokens=***&passwords=***",
		"/v1/x?private_token=s3cr3t&job-token=s3cr3t":        "/v1/x?private_token=***&job-token=***",
		"/v1/x?otp=s3cr3t&totp=s3cr3t":                       "/v1/x?otp=***&totp=***",
		"/v1/x?max_tokens=9&pattern=p&path=p&api_key_ids=a":  "/v1/x?max_tokens=9&pattern=p&path=p&api_key_ids=a",
		"/v1/x?session=s3cr3t&sas=s3cr3t&bearer=s3cr3t":      "/v1/x?session=***&sas=***&bearer=***",
		"/v1/x?Session_ID=s3cr3t&AWSAccessKeyId=s3cr3t":      "/v1/x?Session_ID=***&AWSAccessKeyId=***",
		"/v1/x?key=&pageToken=t&monkey=m":                    "/v1/x?key=&pageToken=t&monkey=m",
		"/v1/x?after=file_1&idempotency_key=abc":             "/v1/x?after=file_1&idempotency_key=abc",
		"/v1/x?" + strings.Repeat("a", 99) + "secret=s3cr3t": "/v1/x?" + strings.Repeat("a", 99) + "secret=***",
	} {
		if got := sealed.Target(target); got != want {
			t.Errorf("%s is shown as %s, want %s", target, got, want)
		}
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                         "",
		"example.com?key=a":                        "example.com?key=a",
		"https://example.com/v1":                   "https://example.com/v1",
		"https://example.com:8443/@scope/x":        "https://example.com:8443/@scope/x",
		"https://example.com/@scope?page=2":        "https://example.com/@scope?page=2",
		"https://example.com?q=a@b":                "https://example.com?q=a@b",
		"https://example.com/mcp?token=s3cr3t":     "https://example.com/mcp?token=***",
		"https://example.com/mcp#access_token=s&x": "https://example.com/mcp#access_token=***&x",
		"https://u:s3cr3t@example.com/v1?key=a":    "https://***@example.com/v1?key=***",
		"https://s3cr3t@example.com/":              "https://***@example.com/",
		"https://u:s3c/r3t@example.com/v1":         "https://***@example.com/v1",
		"https://u:s3c?r3t@example.com/v1":         "https://***@example.com/v1",
		"https://u:s3c#r3t@example.com/v1":         "https://***@example.com/v1",
		"https://a.token@example.com/":             "https://***@example.com/",
		"https://[::1]:8080/@scope":                "https://[::1]:8080/@scope",
		"redis://:s3cr3t@cache:6379/0":             "redis://***@cache:6379/0",
		"see https://example.com/?key=a":           "see https://example.com/?key=a",
		"://example.com/?key=a":                    "://example.com/?key=a",
	} {
		if got := sealed.Address(text); got != want {
			t.Errorf("%s is shown as %s, want %s", text, got, want)
		}
	}
}

func TestWebhook(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://hook.example/x":                                     "https://hook.example/x",
		"https://u:s3cr3t@hook.example/x?a=s3cr3t&b=s3cr3t#c":        "https://***@hook.example/x?a=***&b=***&***",
		"https://hook.example/x?s3cr3t":                              "https://hook.example/x?***",
		"https://hooks.example/services/T0/abcdefghijklmnopqrstuvwx": "https://hooks.example/services/T0/***",
		"no URL": "no URL",
	} {
		got := sealed.Webhook(text)
		if got != want || sealed.Webhook(got) != got {
			t.Errorf("%s is shown as %s, want %s", text, got, want)
		}
	}
}
