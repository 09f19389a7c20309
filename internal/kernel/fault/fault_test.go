package fault_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"sluice/internal/kernel/fault"
)

func TestBodies(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		err     *fault.Error
		surface fault.Surface
		want    string
	}{
		{"plain", fault.New(fault.InvalidRequest, "no"), fault.Model, `{"error":{"code":null,"message":"no","param":null,"type":"invalid_request_error"},"message":"no","status":"failure"}`},
		{"config", fault.New(fault.InvalidConfig, "no").WithDetails("targets: path"), fault.Model, `{"code":"AB01","error":{"code":"AB01","message":"no","param":null,"type":"invalid_request_error"},"errors":["targets: path"],"message":"no","status":"failure"}`},
		{"openai", fault.New(fault.InvalidParameter, "no").WithParam("temperature"), fault.Model, `{"error":{"code":null,"message":"no","param":"temperature","type":"invalid_request_error"}}`},
		{"key", fault.New(fault.Unauthenticated, "who"), fault.Model, `{"error":{"code":"03","message":"Sluice Error: who. Error Code: 03","param":null,"type":"authentication_error"},"message":"Sluice Error: who. Error Code: 03","status":"failure"}`},
		{"route", fault.New(fault.UnknownRoute, "no"), fault.Model, `{"error":{"code":null,"message":"no","param":null,"type":"not_found_error"},"message":"no","ok":false}`},
		{"inline", fault.New(fault.InlineBlocked, "no").WithType("", "inline_config_blocked").WithParam("x-gateway-config"), fault.Model, `{"error":{"code":"inline_config_blocked","field":"x-gateway-config","message":"no"},"message":"no","status":"failure"}`},
		{"a budget that stays used up", fault.New(fault.BudgetExhausted, "no").WithAgain(fault.AgainNever), fault.Model, `{"error":{"code":"04","message":"no","param":null,"retryable":false,"type":"budget_exceeded"}}`},
		{"a rate of a key", fault.New(fault.KeyRateLimited, "slow").WithAgain(fault.AgainHelps), fault.Model, `{"error":{"code":"05","message":"Sluice Error: slow. Error Code: 05","param":null,"retryable":true,"type":"rate_limit_exceeded"},"message":"Sluice Error: slow. Error Code: 05","status":"failure"}`},
		{"a rate, to a caller of messages", fault.New(fault.KeyRateLimited, "slow").WithAgain(fault.AgainHelps), fault.Messages, `{"error":{"message":"slow","retryable":true,"type":"rate_limit_error"},"type":"error"}`},
		{"messages", fault.New(fault.RateLimited, "slow"), fault.Messages, `{"error":{"message":"slow","type":"rate_limit_error"},"type":"error"}`},
		{"google", fault.New(fault.InvalidRequest, "no"), fault.Google, `{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}`},
		{"google, a rate", fault.New(fault.KeyRateLimited, "slow").WithType("", "05").WithRetry(90 * time.Second), fault.Google, `{"error":{"code":429,"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"sluice","reason":"05"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"90s"}],"message":"slow","status":"RESOURCE_EXHAUSTED"}}`},
		{"amazon", fault.New(fault.Unauthenticated, "who"), fault.Amazon, `{"message":"who"}`},
		{"cohere", fault.New(fault.Unauthenticated, "who"), fault.Cohere, `{"message":"who"}`},
		{"admin", fault.New(fault.Forbidden, "no"), fault.Admin, `{"data":{"errorCode":"AB03","message":"no"},"success":false}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := string(c.err.Body(c.surface)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestCauseNeverLeaves(t *testing.T) {
	t.Parallel()
	e := fault.Wrap(fault.UpstreamFailed, errors.New("sk-secret at 10.0.0.1"))
	for _, s := range []fault.Surface{fault.Model, fault.Messages, fault.Admin, fault.Google, fault.Amazon, fault.Cohere} {
		if b := string(e.Body(s)); !json.Valid([]byte(b)) || contains(b, "secret") {
			t.Errorf("surface %d: %s", s, b)
		}
	}
	if !errors.Is(fmt.Errorf("x: %w", e), fault.New(fault.UpstreamFailed, "")) {
		t.Error("errors.Is does not compare by code")
	}
}

func contains(s, sub string) bool {
	for i := 0; i+len(sub) <= len(s); i++ {
		if s[i:i+len(sub)] == sub {
			return true
		}
	}
	return false
}

func TestTableIsComplete(t *testing.T) {
	t.Parallel()
	codes := []fault.Code{
		fault.InvalidRequest, fault.InvalidConfig, fault.InvalidParameter, fault.UnsupportedMedia, fault.TooLarge, fault.InlineBlocked,
		fault.Unauthenticated, fault.KeyExpired, fault.Forbidden, fault.FeatureOff, fault.ReferenceMissing, fault.NotFound, fault.UnknownRoute,
		fault.Conflict, fault.BudgetExhausted, fault.KeyBudgetExhausted, fault.ModelNotAllowed, fault.ModelUnpriced, fault.RateLimited, fault.KeyRateLimited, fault.NotSupported, fault.UpstreamTimeout,
		fault.UpstreamUnreachable, fault.UpstreamFailed, fault.UpstreamInvalid, fault.SecretUnavailable, fault.AddressRefused, fault.ClientGone, fault.ReadOnly,
		fault.Overloaded, fault.Internal, fault.GuardrailDenied,
	}
	seen := map[fault.Code]bool{}
	for _, c := range codes {
		e := fault.New(c, "")
		if seen[c] || e.Text() == "" || e.HTTPStatus() < 400 || e.HTTPStatus() > 599 {
			t.Errorf("code %s: status %d text %q seen %v", c, e.HTTPStatus(), e.Text(), seen[c])
		}
		if c != fault.Internal && e.HTTPStatus() == 500 {
			t.Errorf("code %s has no row in codes.json", c)
		}
		seen[c] = true
	}
	if fault.Rows() != len(codes) {
		t.Errorf("codes.json has %d rows, the constants are %d", fault.Rows(), len(codes))
	}
}
