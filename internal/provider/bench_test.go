package provider_test

import (
	"sync"
	"testing"

	"sluice/internal/kernel/llm"
	"sluice/internal/provider"
)

// plainChat is the most common call: chat at OpenAI with a stored key.
var plainChat = provider.Call{Endpoint: llm.ChatComplete, Method: "POST", Path: "/chat/completions", Model: "gpt-4o-mini"}

// maxPlainAllocs is the recorded baseline of Plan for plainChat: the Plan itself.
const maxPlainAllocs = 1

func TestPlainPlanAllocates(t *testing.T) {
	s, v := find(t, "openai"), provider.Values{"key": "sk-1"}
	if got := testing.AllocsPerRun(200, func() { _, _ = s.Plan(plainChat, v) }); got > maxPlainAllocs {
		t.Errorf("Plan of a plain chat allocates %.0f times, the baseline is %d", got, maxPlainAllocs)
	}
}

func BenchmarkPlan(b *testing.B) {
	azure := provider.Values{"key": "k", "azure_resource_name": "contoso", "azure_deployment_id": "gpt-4o", "azure_api_version": "2024-10-21"}
	host := plainChat
	host.CustomHost = "http://127.0.0.1:8000/v1"
	cases := []struct {
		name, id string
		call     provider.Call
		values   provider.Values
	}{
		{"openai", "openai", plainChat, provider.Values{"key": "sk-1"}},
		{"custom-host", "openai", host, provider.Values{"key": "sk-1"}},
		{"azure", "azure-openai", plainChat, azure},
		{"proxy", "openai", provider.Call{Endpoint: llm.Proxy, Method: "GET", Path: "/vector_stores/vs_1/files", RawQuery: "limit=2"}, provider.Values{"key": "sk-1"}},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			s := find(b, c.id)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Plan(c.call, c.values); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

var table = sync.OnceValues(provider.Load)

// find returns a provider of the embedded table.
func find(tb testing.TB, id string) *provider.Spec {
	tb.Helper()
	t, err := table()
	if err != nil {
		tb.Fatal(err)
	}
	s, ok := t.Find(id)
	if !ok {
		tb.Fatalf("no provider %s", id)
	}
	return s
}
