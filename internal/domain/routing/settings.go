package routing

import (
	"net/url"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sluice/internal/kernel/ident"
)

// The readers of single settings of a level.

func (p *parser) slug(path string, v gjson.Result) string {
	s := p.text(path, v)
	if s != "" && !ident.ValidSlug(s) {
		p.failf(path, "must be a slug: letters, digits, dot, dash and underscore")
	}
	return s
}

// provider reads "openai" or "@slug". It does not check whether the name exists.
func (p *parser) provider(path string, v gjson.Result) string {
	s := p.text(path, v)
	if s != "" && !ident.ValidSlug(strings.TrimPrefix(s, "@")) {
		p.failf(path, "must be the name of a provider, or @slug for a saved one")
	}
	return s
}

// maxHost is the maximum length of a custom host. Source: contract/dataplane.md 4.9.
const maxHost = 2048

// host reads a base URL and checks only its syntax. Whether the address may be called is
// decided when it is dialled.
func (p *parser) host(path string, v gjson.Result) string {
	s := p.text(path, v)
	if s == "" {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil || len(s) > maxHost || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil {
		p.failf(path, "must be a URL such as https://host/v1, without user and password, at most %d bytes", maxHost)
	}
	return s
}

var retryFields = bothSpellings(map[string]reader[Retry]{
	"attempts":               func(p *parser, path string, v gjson.Result, r *Retry) { r.Attempts = p.integer(path, v, 0, 1000) },
	"on_status_codes":        func(p *parser, path string, v gjson.Result, r *Retry) { r.OnStatus = p.statuses(path, v) },
	"use_retry_after_header": func(p *parser, path string, v gjson.Result, r *Retry) { r.UseRetryAfter = p.flag(path, v) },
}).as("use_retry_after_headers", "use_retry_after_header")

func (p *parser) retry(path string, v gjson.Result) *Retry {
	r := Retry{Attempts: -1, OnStatus: retryStatuses}
	if readObject(p, path, v, retryFields, &r) && r.Attempts < 0 {
		p.failf(key(path, "attempts"), "is required")
	}
	r.Attempts = min(r.Attempts, MaxRetries)
	return &r
}

// cacheOff is the mode of a level that switches off an inherited cache.
const cacheOff CacheMode = "disabled"

// These limit the age of a cache entry, in seconds. Source: contract/dataplane.md 4.7.
const (
	minCacheAge = 60
	maxCacheAge = 90 * 24 * 60 * 60
)

var cacheFields = bothSpellings(map[string]reader[Cache]{
	"mode":    func(p *parser, path string, v gjson.Result, c *Cache) { c.Mode = p.cacheMode(path, v) },
	"max_age": func(p *parser, path string, v gjson.Result, c *Cache) { c.MaxAge = p.cacheAge(path, v) },
	"vary":    func(p *parser, path string, v gjson.Result, c *Cache) { c.Vary = p.texts(path, v) },
	"threshold": func(p *parser, path string, v gjson.Result, c *Cache) {
		cosine := p.number(path, v, 0, 1)
		c.Threshold = &cosine
	},
	"guard": func(p *parser, path string, v gjson.Result, c *Cache) { c.Unguarded = !p.flag(path, v) },
})

// cacheAge reads the age of a cache entry. In a stored document, an age beyond a limit becomes the
// limit: earlier versions accepted it so.
func (p *parser) cacheAge(path string, v gjson.Result) time.Duration {
	low, high := minCacheAge, maxCacheAge
	if p.stored {
		low, high = 1, 1<<31-1
	}
	age := p.integer(path, v, low, high)
	return time.Duration(min(max(age, minCacheAge), maxCacheAge)) * time.Second
}

// cache reads the object form or a bare mode.
func (p *parser) cache(path string, v gjson.Result) *Cache {
	var c Cache
	if v.Type == gjson.String {
		c.Mode = p.cacheMode(path, v)
	} else if readObject(p, path, v, cacheFields, &c) && c.Mode == "" {
		p.failf(key(path, "mode"), "is required; must be simple or semantic")
	}
	return &c
}

// cacheMode never returns "", so that an invalid mode is not reported as missing too.
func (p *parser) cacheMode(path string, v gjson.Result) CacheMode {
	switch m := CacheMode(strings.ToLower(v.Str)); m {
	case CacheSimple, CacheSemantic, cacheOff:
		return m
	}
	p.failf(path, "must be simple or semantic")
	return cacheOff
}

// minCooldown is the minimum time in milliseconds that a circuit stays open.
// Source: contract/dataplane.md 4.5.
const minCooldown = 30_000

var breakerFields = bothSpellings(map[string]reader[BreakerConfig]{
	"failure_threshold": func(p *parser, path string, v gjson.Result, b *BreakerConfig) {
		b.FailureThreshold = p.number(path, v, 1, 1e9)
	},
	"cooldown_interval": func(p *parser, path string, v gjson.Result, b *BreakerConfig) {
		b.Cooldown = p.millis(path, v, minCooldown)
	},
	"failure_status_codes": func(p *parser, path string, v gjson.Result, b *BreakerConfig) {
		b.FailureStatus = p.statuses(path, v)
	},
	"failure_threshold_percentage": func(p *parser, path string, v gjson.Result, b *BreakerConfig) {
		b.FailurePercent = p.number(path, v, 0, 100)
	},
	"minimum_requests": func(p *parser, path string, v gjson.Result, b *BreakerConfig) {
		b.MinimumRequests = p.integer(path, v, 0, 1e9)
	},
})

func (p *parser) breaker(path string, v gjson.Result) *BreakerConfig {
	var b BreakerConfig
	if readObject(p, path, v, breakerFields, &b) {
		if b.FailureThreshold == 0 {
			p.failf(key(path, "failure_threshold"), "is required")
		}
		if b.Cooldown == 0 {
			p.failf(key(path, "cooldown_interval"), "is required")
		}
	}
	return &b
}
