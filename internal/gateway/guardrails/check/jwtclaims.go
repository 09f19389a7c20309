package check

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// claimRules are the conditions on the claims of an authentic token.
type claimRules struct {
	now       func() time.Time
	tolerance time.Duration // difference of the clocks of issuer and gateway
	maxAge    time.Duration // since the token was issued
	required  []string
	values    map[string]*valueMatcher
	same      []string // claims that header and payload must have with the same value
}

func newClaimRules(p Params, d *Deps) (*claimRules, error) {
	r := &claimRules{
		now: clock(d), tolerance: seconds(p, "clockTolerance", 5), required: p.List("requiredClaims"), same: p.List("headerPayloadMatch"),
		values: make(map[string]*valueMatcher),
	}
	var ok bool
	if r.maxAge, ok = duration(p["maxTokenAge"], 24*time.Hour); !ok {
		return nil, invalidParameter("maxTokenAge", `must be a duration of at most 100 years, such as "12h"`)
	}
	for claim, v := range p.Object("claimValues") {
		rule, _ := v.(map[string]any)
		expected, _ := plainTexts(rule["values"])
		m, err := newValueMatcher(Params(rule).Text("matchType", matchExact), expected, "claimValues."+claim+".values")
		if err != nil {
			return nil, err
		}
		r.values[claim] = m
	}
	return r, nil
}

// judge returns the reason why the claims of a token are rejected, nil if they are not.
func (r *claimRules) judge(t *verifiedToken) error {
	if err := r.judgeTimes(t); err != nil {
		return err
	}
	for _, claim := range r.required {
		if t.claims[claim] == nil {
			return rejection("the token does not have the required claim " + excerpt(claim))
		}
	}
	for _, claim := range slices.Sorted(maps.Keys(r.values)) {
		if !matchClaim(r.values[claim], t.claims[claim]) {
			return rejection("the claim " + excerpt(claim) + " does not have a permitted value")
		}
	}
	for _, claim := range r.same {
		if !sameJSON(t.header[claim], t.claims[claim]) {
			return rejection("the claim " + excerpt(claim) + " must be equal in the header and the payload of the token")
		}
	}
	return nil
}

// judgeTimes judges the claims exp, nbf and iat. Source: RFC 7519 section 4.1.
func (r *claimRules) judgeTimes(t *verifiedToken) error {
	now := r.now()
	for _, name := range [...]string{"exp", "nbf", "iat"} {
		if _, valid := timeClaim(t.claims, name); !valid && t.claims[name] != nil {
			return rejection("the claim " + name + " of the token is not a time")
		}
	}
	if expires, ok := timeClaim(t.claims, "exp"); ok && !now.Before(expires.Add(r.tolerance)) {
		return rejection("the token has expired")
	}
	if begins, ok := timeClaim(t.claims, "nbf"); ok && now.Add(r.tolerance).Before(begins) {
		return rejection("the token is not valid yet")
	}
	return r.judgeAge(now, t)
}

// judgeAge judges the time since a token was issued. RFC 7662 does not require introspections to have it.
func (r *claimRules) judgeAge(now time.Time, t *verifiedToken) error {
	issued, ok := timeClaim(t.claims, "iat")
	switch {
	case !ok && t.opaque:
		return nil
	case !ok:
		return rejection("the token does not have the claim iat, which maxTokenAge needs")
	case now.Add(r.tolerance).Before(issued):
		return rejection("the token was issued in the future")
	case now.Sub(issued) > r.maxAge+r.tolerance:
		return rejection("the token is older than maxTokenAge")
	}
	return nil
}

// maxSeconds is the last second of the year 9999.
const maxSeconds = 253_402_300_799

// timeClaim returns a claim that is a number of seconds since 1970.
func timeClaim(claims map[string]any, name string) (time.Time, bool) {
	n, isNumber := claims[name].(json.Number)
	if !isNumber {
		return time.Time{}, false
	}
	f, err := n.Float64()
	if err != nil || f < 0 || f > maxSeconds {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(f * 1000)), true
}

// matchClaim compares a claim. A missing claim does not match.
func matchClaim(m *valueMatcher, claim any) bool {
	texts, isList := plainTexts(claim)
	switch {
	case isList:
		return m.list(texts)
	case len(texts) == 0:
		return false
	}
	return m.text(texts[0])
}

// sameJSON reports whether two values are present and equal.
func sameJSON(a, b any) bool {
	if a == nil || b == nil {
		return false
	}
	left, err := json.Marshal(a)
	if err != nil {
		return false
	}
	right, err := json.Marshal(b)
	return err == nil && bytes.Equal(left, right)
}

var durationForm = regexp.MustCompile(`^([0-9]{1,9}) ?([a-z])([a-z]*)$`)

// duration returns a duration such as "1d" or "30 minutes", or a number of seconds. It reports false
// for one beyond 100 years. The value has the form of param.Duration.
func duration(v any, otherwise time.Duration) (time.Duration, bool) {
	const day = 24 * time.Hour
	units := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": day, "w": 7 * day, "y": 36525 * day / 100}
	var n float64
	unit := time.Second
	switch v := v.(type) {
	case nil:
		return otherwise, true
	case float64:
		n = v
	case string:
		parts := durationForm.FindStringSubmatch(v)
		if parts == nil || units[parts[2]] == 0 {
			return 0, false
		}
		count, err := strconv.Atoi(parts[1])
		if err != nil {
			return 0, false
		}
		n, unit = float64(count), units[parts[2]]
	}
	if n < 0 || n*unit.Seconds() > 100*366*day.Seconds() {
		return 0, false
	}
	return time.Duration(n * float64(unit)), true
}
