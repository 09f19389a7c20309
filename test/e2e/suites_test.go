package e2e

import (
	"cmp"
	"os"
	"strings"
	"testing"

	"sluice/internal/storage/sqlstore/storetest"
	"sluice/internal/test/upstream"
	"sluice/test/suites"
)

// refusedBySpec are generated tests of what the gateway refuses with 400 before
// anything is sent, and why.
var refusedBySpec = map[string]string{
	"TestAudioTranscriptionNewWithOptionalParams": "keywords[], languages[] and others are no fields of a transcription, and timestamps need verbose_json (spec, Transcription request)",
}

// rewrittenRequests are requests that the gateway does not pass on as they are although caller
// and provider are of one vendor: provider, then how they begin, and why.
var rewrittenRequests = map[string]string{
	"openai POST /v1/audio/transcriptions\n": "it is refused",
}

// The generated tests of the official clients pass through the gateway as they pass
// without it, and the provider gets the same requests. Building them takes minutes
// where nothing is in Go's cache, so they wait to be asked for.
func TestVendorSuites(t *testing.T) {
	t.Parallel()
	if os.Getenv("SUITES") != "1" {
		t.Skip("make suites runs the vendors' own tests")
	}
	for _, s := range suites.All() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			source, err := s.Find(t.Context(), "sdk")
			if err != nil {
				storetest.Missing(t, "the client cannot be had: %v", err)
			}
			programs, err := suites.Build(t.Context(), source, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			direct, sent := runSuite(t, s, programs, nil)
			through, arrived := runSuite(t, s, programs, start(t))
			compareResults(t, direct, through)
			compareRequests(t, s.Provider, sent, arrived)
		})
	}
}

// runSuite runs a suite against a provider that takes anything, through a gateway if
// there is one, and returns what became of the tests and what arrived.
func runSuite(t *testing.T, s suites.Suite, programs []suites.Program, g *gateway) (suites.Results, []string) {
	t.Helper()
	up := upstream.Start(t)
	up.Script(suites.Accept)
	base, headers := up.URL()+s.Base, ""
	if g != nil {
		base = g.base + s.Base
		headers = "x-gateway-api-key: " + g.key + "\nx-gateway-provider: " + s.Provider + "\nx-gateway-custom-host: " + up.URL() + "/v1"
	}
	all := suites.Results{}
	for _, p := range programs {
		results, err := p.Run(t.Context(), base, t.TempDir(), s.Headers+"="+headers)
		if err != nil {
			t.Fatal(err)
		}
		for name, r := range results {
			all[name] = r
		}
	}
	probe := cmp.Or(s.Base, "/")
	return all, suites.Requests(up.Seen(), probe)
}

func compareResults(t *testing.T, direct, through suites.Results) {
	t.Helper()
	passed := 0
	for name, want := range direct {
		got := through[name]
		switch reason, known := refusedBySpec[name]; {
		case !want.Passed:
			t.Errorf("%s fails without the gateway:\n%s", name, want.Output)
		case known && got.Passed:
			t.Errorf("%s passes, though %s", name, reason)
		case known && !strings.Contains(got.Output, "400 Bad Request"):
			t.Errorf("%s is not refused:\n%s", name, got.Output)
		case !known && !got.Passed:
			t.Errorf("%s passes without the gateway only:\n%s", name, got.Output)
		case got.Passed:
			passed++
		}
	}
	t.Logf("%d of %d tests pass both ways", passed, len(direct))
}

// compareRequests finds requests that only one of two runs has.
func compareRequests(t *testing.T, provider string, sent, arrived []string) {
	t.Helper()
	left := map[string]int{}
	for _, r := range arrived {
		left[r]++
	}
	for _, r := range sent {
		if left[r]--; left[r] < 0 && !known(provider+" "+r) {
			t.Errorf("sent, but it did not arrive so:\n%s", r)
		}
	}
	for r, n := range left {
		if n > 0 && !known(provider+" "+r) {
			t.Errorf("it arrived %d times more than it was sent:\n%s", n, r)
		}
	}
	t.Logf("%d requests sent, %d arrived", len(sent), len(arrived))
}

func known(request string) bool {
	for start := range rewrittenRequests {
		if strings.HasPrefix(request, start) {
			return true
		}
	}
	return false
}
