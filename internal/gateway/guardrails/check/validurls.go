package check

import (
	"context"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
)

// Limits of validURLs.
const (
	urlTimeout  = 3 * time.Second // Source: contract/dataplane.md 5.6
	maxURLs     = 100             // different URLs of a text
	maxURLBytes = 2048
	urlWorkers  = 8
)

// validURLs passes texts whose http and https URLs all exist. A URL exists if it answers HEAD with a
// status 2xx, after redirects, or with onlyDNS if its host name resolves.
func validURLs() Check {
	return Check{
		Definition: guardrail.Definition{ID: "default.validUrls", Phases: outputPhase(), Params: []param.Param{
			param.Optional("onlyDNS", param.Boolean), param.Not,
		}},
		New: func(p Params, d *Deps) (Runner, error) {
			return &urlRunner{
				fetcher: fetcher{services: d.Services, timeout: urlTimeout, maxBytes: 1}, resolver: d.Resolver,
				onlyDNS: p.Bool("onlyDNS", false), not: p.Bool("not", false),
			}, nil
		},
	}
}

type urlRunner struct {
	fetcher  fetcher
	resolver Resolver
	onlyDNS  bool
	not      bool
}

// Run tests each URL of the text. A text without URLs fails.
func (u *urlRunner) Run(ctx context.Context, in *Input) Result {
	text := in.Text()
	urls := urlsIn(text)
	data := report{"onlyDNS": u.onlyDNS, "not": u.not, "textExcerpt": excerpt(text), "urls": urls, "validUrls": []string{}, "invalidUrls": []string{}}
	switch {
	case len(urls) == 0:
		data["verdict"], data["explanation"] = false, "the text contains no URL"
		return Result{Data: data}
	case len(urls) > maxURLs:
		data["urls"] = urls[:maxURLs]
		return errorResult("the text contains more than "+strconv.Itoa(maxURLs)+" URLs", data)
	case u.onlyDNS && u.resolver == nil || !u.onlyDNS && u.fetcher.services == nil:
		return errorResult(errNoServices.Error(), data)
	}
	valid, invalid := u.test(ctx, urls)
	if err := ctx.Err(); err != nil {
		return Result{Error: &Error{timeoutError, "the URLs did not respond in time"}, Data: data}
	}
	verdict := (len(invalid) == 0) != u.not
	data["validUrls"], data["invalidUrls"], data["verdict"] = valid, invalid, verdict
	data["explanation"] = choose(len(invalid) == 0, "all URLs are valid", "some URLs are not valid")
	return Result{Verdict: verdict, Data: data}
}

// test tests URLs, some at a time.
func (u *urlRunner) test(ctx context.Context, urls []string) (valid, invalid []string) {
	exists := make([]bool, len(urls))
	inParallel(len(urls), urlWorkers, func(i int) { exists[i] = u.exists(ctx, urls[i]) })
	valid, invalid = []string{}, []string{}
	for i, address := range urls {
		if exists[i] {
			valid = append(valid, address)
		} else {
			invalid = append(invalid, address)
		}
	}
	return valid, invalid
}

func (u *urlRunner) exists(ctx context.Context, address string) bool {
	if !u.onlyDNS {
		resp, err := u.fetcher.fetch(ctx, "HEAD", address)
		return err == nil && resp.Status >= 200 && resp.Status <= 299
	}
	ctx, cancel := context.WithTimeout(ctx, urlTimeout)
	defer cancel()
	target, err := url.Parse(address)
	if err != nil {
		return false
	}
	found, err := u.resolver.LookupNetIP(ctx, "ip", target.Hostname())
	return err == nil && len(found) > 0
}

var urlPattern = regexp.MustCompile(`(?i)\bhttps?://[^\s<>"'` + "`" + `{}|\\^]+`)

// urlsIn returns the different URLs of a text, at most one more than maxURLs. Brackets and signs that
// end a sentence do not belong to a URL.
func urlsIn(text string) []string {
	urls := []string{}
	for len(urls) <= maxURLs {
		at := urlPattern.FindStringIndex(text)
		if at == nil {
			break
		}
		address := trimURL(text[at[0]:at[1]])
		text = text[at[1]:]
		if !slices.Contains(urls, address) {
			urls = append(urls, address)
		}
	}
	return urls
}

// trimURL removes what follows a URL in a sentence: "https://a.example/b)." becomes
// "https://a.example/b".
func trimURL(s string) string {
	s = s[:min(len(s), maxURLBytes)]
	for {
		trimmed := strings.TrimRight(s, ".,;:!?*_~")
		for _, pair := range [...]string{"()", "[]"} {
			if strings.HasSuffix(trimmed, pair[1:]) && strings.Count(trimmed, pair[1:]) > strings.Count(trimmed, pair[:1]) {
				trimmed = trimmed[:len(trimmed)-1]
			}
		}
		if trimmed == s {
			return s
		}
		s = trimmed
	}
}

var _ Resolver = (*net.Resolver)(nil)
