package partner_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/partner"
)

func TestBreakerPermitsOneCallAtATimeAfterItsPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		s := stub(func(context.Context, *check.ServiceRequest) (*check.ServiceResponse, error) {
			calls.Add(1)
			time.Sleep(time.Second)
			return nil, errors.New("refused")
		})
		r := open(t, find(t, "zscaler.executePolicy"), `{"policyId":1,"credentials":{"apiKey":"test-key","baseUrl":"https://probe.example"}}`, &check.Deps{Services: s})
		in := &check.Input{Phase: guardrail.Input, Texts: []string{"x"}}
		for range partner.BreakerFailures {
			r.Run(t.Context(), in)
		}
		time.Sleep(partner.BreakerOpenTime)
		calls.Store(0)
		var wait sync.WaitGroup
		for range 20 {
			wait.Go(func() { r.Run(t.Context(), in) })
		}
		wait.Wait()
		if calls.Load() != 1 {
			t.Errorf("%d calls, want 1", calls.Load())
		}
	})
}

func TestBreakerClosesAfterACallThatTheCallerEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stub(func(ctx context.Context, _ *check.ServiceRequest) (*check.ServiceResponse, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		in := &check.Input{Phase: guardrail.Input, Texts: []string{"x"}}
		const parameters = `{"policyId":1,"credentials":{"apiKey":"test-key","baseUrl":"https://ended.example"}}`
		zscaler := find(t, "zscaler.executePolicy")
		r := open(t, zscaler, parameters, &check.Deps{Services: s})
		for range partner.BreakerFailures {
			r.Run(t.Context(), in)
		}
		time.Sleep(partner.BreakerOpenTime)
		ended, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r.Run(ended, in)
		healthy := open(t, zscaler, parameters, &check.Deps{Services: returns(200, `{"action":"ALLOW"}`)})
		if res := healthy.Run(t.Context(), in); res.Error != nil {
			t.Errorf("error %v, want another call that tries the service", res.Error)
		}
	})
}

func TestEachCallHasTheTimeOfThePartnerOrOfTheParameter(t *testing.T) {
	const key = `"credentials":{"apiKey":"test-key"}`
	for name, c := range map[string]struct {
		id, parameters string
		want           time.Duration
	}{
		"default":     {"zscaler.executePolicy", `{"policyId":1,` + key + `}`, 10 * time.Second},
		"parameter":   {"zscaler.executePolicy", `{"policyId":1,"timeout":5000,` + key + `}`, 5 * time.Second},
		"longer":      {"qualifire.pii", `{` + key + `}`, time.Minute},
		"shortened":   {"qualifire.pii", `{"timeout":3000,` + key + `}`, 3 * time.Second},
		"lakera":      {"lakera.guard", `{` + key + `}`, 30 * time.Second},
		"patronus":    {"patronus.toxicity", `{` + key + `}`, 15 * time.Second},
		"azure":       {"azure.contentSafety", azureParameters, 10 * time.Second},
		"mistral":     {"mistral.moderateContent", `{"categories":["pii"],` + key + `}`, 10 * time.Second},
		"tavily":      {"tavily.online", `{` + key + `}`, 30 * time.Second},
		"javelin":     {"javelin.guardrails", `{"credentials":{"apiKey":"test-key","application":"a"}}`, 10 * time.Second},
		"crowdstrike": {"crowdstrike-aidr.guardChatCompletions", `{"credentials":{"apiKey":"test-key","baseUrl":"https://slow.example"}}`, 10 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := stub(func(ctx context.Context, _ *check.ServiceRequest) (*check.ServiceResponse, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			})
			r := open(t, find(t, c.id), c.parameters, &check.Deps{Services: s})
			started := time.Now()
			res := r.Run(t.Context(), &check.Input{Phase: guardrail.Input, Endpoint: "chatComplete", Texts: []string{"x"}, Body: []byte(`{}`)})
			if took := time.Since(started); took != c.want || res.Error == nil || res.Error.Name != "TimeoutError" {
				t.Errorf("%s: %v after %v, want a timeout after %v", name, res.Error, took, c.want)
			}
		})
	}
}
