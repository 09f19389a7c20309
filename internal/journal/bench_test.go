package journal_test

import (
	"bytes"
	"testing"

	"sluice/internal/journal"
	"sluice/internal/llm"
	"sluice/internal/record"
)

// typical is the record of a chat with a body of 700 bytes and an answer of 1 KB.
func typical() *record.Attempt {
	return &record.Attempt{
		ID: "0191f3a0-4c1e-7b6f-9d2a-0c6d8a1e5b3f", RequestID: "0191f3a0-4c1e-7b6f-9d2a-0c6d8a1e5b3e",
		TraceID: "0191f3a0-4c1e-7b6f-9d2a-0c6d8a1e5b3d", SpanID: "0191f3a0-4c1e-7b6f-9d2a-0c6d8a1e5b3c",
		OrgID: "0191f3a0-4c1e-7b6f-9d2a-000000000001", WorkspaceID: "0191f3a0-4c1e-7b6f-9d2a-000000000002",
		KeyID: "0191f3a0-4c1e-7b6f-9d2a-000000000003", KeyName: "production", ConfigID: "pc-routing-3f9x2a",
		TargetPath: "config.targets[1]", Provider: "openai", ProviderID: "openai-main", Model: "gpt-4o-mini",
		ReplyModel: "gpt-4o-mini-2024-07-18", Endpoint: llm.ChatComplete, Method: "POST", Path: "/v1/chat/completions",
		UpstreamURL: "https://api.openai.com/v1/chat/completions", Status: 200, Upstream: 200, Outcome: record.OK,
		CacheStatus: "DISABLED", Usage: llm.Usage{InputTokens: 120, OutputTokens: 48, TotalTokens: 168, Reported: true},
		Metadata: map[string]string{"_user": "alice@example.com", "team": "search"}, BytesIn: 690, BytesOut: 1024, Remote: "10.1.2.3",
		Request:  record.Body{Type: "application/json", Bytes: bytes.Repeat([]byte("x"), 690), Size: 690},
		Response: record.Body{Type: "application/json", Bytes: bytes.Repeat([]byte("y"), 1024), Size: 1024},
	}
}

func BenchmarkAppend(b *testing.B) {
	j, err := journal.Open(journal.Options{Dir: b.TempDir(), MaxBytes: 1 << 40})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	go j.Run(b.Context())
	a := typical()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if err := j.Append(a); err != nil {
			b.Fatal(err)
		}
		if n++; n%4096 == 0 {
			_ = j.Trim(record.Position{Seq: 1 << 62})
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	a := typical()
	buf := make([]byte, 0, a.EncodedSize())
	b.ReportAllocs()
	for b.Loop() {
		buf = a.AppendTo(buf[:0])
	}
}

func BenchmarkSize(b *testing.B) {
	a := typical()
	b.ReportAllocs()
	for b.Loop() {
		_ = a.EncodedSize()
	}
}

func BenchmarkDecode(b *testing.B) {
	a := typical()
	buf := a.AppendTo(nil)
	b.ReportAllocs()
	for b.Loop() {
		_ = a.Decode(buf)
	}
}
