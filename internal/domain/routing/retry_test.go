package routing_test

import (
	"testing"
	"time"

	"sluice/internal/domain/routing"
	"sluice/internal/kernel/wire"
)

func TestRetryNext(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	plain := &routing.Retry{Attempts: 5, OnStatus: []int{429, 500, 503, 246, 200}}
	asking := &routing.Retry{Attempts: 5, OnStatus: []int{429, 503}, UseRetryAfter: true}
	head := func(name, value string) wire.Header { return wire.Header{{Name: name, Value: value}} }
	cases := []struct {
		name      string
		retry     *routing.Retry
		n, status int
		transport bool
		header    wire.Header
		waited    time.Duration
		wait      time.Duration
		again     bool
		refused   bool
	}{
		{name: "none configured", status: 500},
		{name: "no attempts", retry: &routing.Retry{OnStatus: []int{500}}, status: 500},
		{name: "first", retry: plain, status: 500, wait: time.Second, again: true},
		{name: "second", retry: plain, n: 1, status: 500, wait: 2 * time.Second, again: true},
		{name: "fifth", retry: plain, n: 4, status: 500, wait: 16 * time.Second, again: true},
		{name: "exhausted", retry: plain, n: 5, status: 500},
		{name: "not listed", retry: plain, status: 502},
		{name: "hook status", retry: plain, status: 246, wait: time.Second, again: true},
		{name: "success, though listed", retry: plain, status: 200},
		{name: "no answer", retry: asking, n: 2, transport: true, wait: 4 * time.Second, again: true},
		{name: "no answer, whatever the gateway calls it", retry: asking, status: 502, transport: true, wait: time.Second, again: true},
		{name: "header not used", retry: plain, status: 429, header: head("retry-after", "30"), wait: time.Second, again: true},
		{name: "seconds", retry: asking, status: 429, header: head("retry-after", " 30 "), wait: 30 * time.Second, again: true},
		{name: "fraction", retry: asking, status: 429, header: head("retry-after", "0.5"), wait: 500 * time.Millisecond, again: true},
		{name: "milliseconds", retry: asking, status: 429, header: head("retry-after-ms", "250"), wait: 250 * time.Millisecond, again: true},
		{name: "azure milliseconds", retry: asking, status: 429, header: head("x-ms-retry-after-ms", "900"), wait: 900 * time.Millisecond, again: true},
		{name: "milliseconds win", retry: asking, status: 429, header: append(head("retry-after", "50"), head("retry-after-ms", "7")...), wait: 7 * time.Millisecond, again: true},
		{name: "date", retry: asking, status: 429, header: head("retry-after", "Fri, 20 Nov 2026 09:00:12 GMT"), wait: 12 * time.Second, again: true},
		{name: "old date", retry: asking, status: 429, header: head("retry-after", "Friday, 20-Nov-26 09:00:12 GMT"), wait: 12 * time.Second, again: true},
		{name: "date gone by", retry: asking, status: 429, header: head("retry-after", "Fri, 20 Nov 2026 08:00:00 GMT"), again: true},
		{name: "zero", retry: asking, status: 429, header: head("retry-after", "0"), again: true},
		{name: "only with 429", retry: asking, status: 503, header: head("retry-after", "30"), wait: time.Second, again: true},
		{name: "missing", retry: asking, n: 3, status: 429, wait: 8 * time.Second, again: true},
		{name: "unreadable", retry: asking, status: 429, header: head("retry-after", "soon"), wait: time.Second, again: true},
		{name: "unreadable milliseconds hide seconds", retry: asking, status: 429, header: append(head("retry-after-ms", "x"), head("retry-after", "9")...), wait: time.Second, again: true},
		{name: "negative", retry: asking, status: 429, header: head("retry-after", "-5"), wait: time.Second, again: true},
		{name: "not a number", retry: asking, status: 429, header: head("retry-after", "NaN"), wait: time.Second, again: true},
		{name: "infinity", retry: asking, status: 429, header: head("retry-after", "infinity"), wait: time.Second, again: true},
		{name: "a power in hexadecimal", retry: asking, status: 429, header: head("retry-after", "0x1p4"), wait: time.Second, again: true},
		{name: "a minute", retry: asking, status: 429, header: head("retry-after", "60"), refused: true},
		{name: "just below", retry: asking, status: 429, header: head("retry-after-ms", "59999"), wait: 59999 * time.Millisecond, again: true},
		{name: "for ever", retry: asking, status: 429, header: head("retry-after", "1e300"), refused: true},
		{name: "date of next year", retry: asking, status: 429, header: head("retry-after", "Sat, 20 Nov 2027 09:00:00 GMT"), refused: true},
		{name: "sum too long", retry: asking, n: 1, status: 429, header: head("retry-after", "31"), waited: 30 * time.Second, refused: true},
		{name: "sum just fits", retry: asking, n: 1, status: 429, header: head("retry-after", "30"), waited: 30 * time.Second, wait: 30 * time.Second, again: true},
		{name: "exhausted before asked", retry: asking, n: 5, status: 429, header: head("retry-after", "90")},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wait, again, refused := c.retry.Next(routing.Tried{Retries: c.n, UpstreamFailed: c.transport, Status: c.status, Header: c.header, Waited: c.waited}, now)
			if wait != c.wait || again != c.again || refused != c.refused {
				t.Errorf("got %v %v %v, want %v %v %v", wait, again, refused, c.wait, c.again, c.refused)
			}
		})
	}
}
