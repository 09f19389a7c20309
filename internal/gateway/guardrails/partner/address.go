package partner

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// pattern is a string with placeholders in braces: "Bearer {credentials.apiKey}".
type pattern []patternPart

type patternPart struct {
	text  string // if name is nil
	value name
}

// parsePattern compiles a pattern.
func parsePattern(s string) (pattern, error) {
	var p pattern
	for rest := s; rest != ""; {
		before, after, found := strings.Cut(rest, "{")
		if before != "" {
			p = append(p, patternPart{text: before})
		}
		if !found {
			break
		}
		inner, next, closed := strings.Cut(after, "}")
		if !closed {
			return nil, fmt.Errorf("%q: a brace without end", s)
		}
		n, err := parseName(inner)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", s, err)
		}
		p = append(p, patternPart{value: n})
		rest = next
	}
	return p, nil
}

// expand returns the string; false if a placeholder has no value. escape converts the values.
func (p pattern) expand(v *values, escape func(string) (string, error)) (string, bool, error) {
	var b strings.Builder
	for i := range p {
		if p[i].value == nil {
			b.WriteString(p[i].text)
			continue
		}
		text := plainText(v.get(p[i].value))
		if text == "" {
			return "", false, nil
		}
		if escape != nil {
			var err error
			if text, err = escape(text); err != nil {
				return "", false, err
			}
		}
		b.WriteString(text)
	}
	return b.String(), true, nil
}

// address is the address of a partner.
type address struct {
	base   pattern // up to the path: "https://{credentials.domain}"
	link   bool    // base is a value that is a complete URL
	custom name    // a URL that replaces base if it has a value; nil for none
	path   pattern
	query  []queryPart
}

type queryPart struct {
	name  string
	value pattern
}

// parseAddress compiles the URL of a request. It begins with https and a host, which may have
// placeholders, or with a placeholder whose value is a URL.
func parseAddress(r *request) (*address, error) {
	a := &address{link: strings.HasPrefix(r.URL, "{")}
	base, rest, ok := splitURL(r.URL)
	if !ok {
		return nil, errors.New("url must begin with https:// or a placeholder")
	}
	var err error
	if a.custom, err = parseOptionalName(r.CustomBase); err != nil {
		return nil, err
	}
	if a.base, err = parsePattern(base); err != nil {
		return nil, err
	}
	if a.path, err = parsePattern(rest); err != nil {
		return nil, err
	}
	for _, name := range names(r.Query) {
		p, err := parsePattern(r.Query[name])
		if err != nil {
			return nil, err
		}
		a.query = append(a.query, queryPart{name, p})
	}
	return a, nil
}

// splitURL splits the URL of a request before its path.
func splitURL(s string) (base, path string, ok bool) {
	if strings.HasPrefix(s, "{") {
		at := strings.IndexByte(s, '}') + 1
		return s[:at], s[at:], at > 0
	}
	host, ok := strings.CutPrefix(s, "https://")
	if at := strings.IndexByte(host, '/'); ok && at >= 0 {
		at += len("https://")
		return s[:at], s[at:], true
	}
	return s, "", ok
}

// names returns the names of the values in the address.
func (a *address) names() (out []name) {
	list := append(append(pattern{}, a.base...), a.path...)
	for i := range a.query {
		list = append(list, a.query[i].value...)
	}
	for i := range list {
		if list[i].value != nil {
			out = append(out, list[i].value)
		}
	}
	return append(out, a.custom)
}

// build returns the URL of a call and the part that names its service: scheme and host.
func (a *address) build(v *values) (full, service string, err error) {
	base, err := a.buildBase(v)
	if err != nil {
		return "", "", err
	}
	rest, ok, err := a.path.expand(v, escapePath)
	if err != nil {
		return "", "", err
	}
	if !ok {
		return "", "", errors.New("the address of the service needs a parameter that is absent")
	}
	u, err := url.Parse(base + rest)
	if err != nil || u.Host == "" {
		return "", "", errors.New("the address of the service must be a URL such as https://guard.example.com")
	}
	if len(a.query) > 0 {
		q := url.Values{}
		for i := range a.query {
			if value, ok, _ := a.query[i].value.expand(v, nil); ok {
				q.Set(a.query[i].name, value)
			}
		}
		u.RawQuery = q.Encode()
	}
	return u.String(), u.Scheme + "://" + u.Host, nil
}

// buildBase returns the URL up to the path.
func (a *address) buildBase(v *values) (string, error) {
	if custom := plainText(v.get(a.custom)); custom != "" {
		return serviceURL(custom)
	}
	if !a.link {
		base, ok, err := a.base.expand(v, escapeHost)
		if err == nil && !ok {
			err = errors.New("the host of the service needs a parameter that is absent")
		}
		return base, err
	}
	base, ok, _ := a.base.expand(v, nil)
	if !ok {
		return "", errors.New("the address of the service is absent")
	}
	return serviceURL(base)
}

// serviceURL validates a URL to which paths are added.
func serviceURL(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", errors.New("the address of the service must be a URL such as https://guard.example.com")
	}
	return strings.TrimRight(s, "/"), nil
}

func escapePath(s string) (string, error) {
	if s == "." || s == ".." {
		return "", errors.New("a part of the address of the service must not be a dot")
	}
	return url.PathEscape(s), nil
}

func escapeHost(s string) (string, error) {
	if !hostForm.MatchString(s) {
		return "", errors.New("the host of the service must be a host name such as guard.example.com")
	}
	return s, nil
}
