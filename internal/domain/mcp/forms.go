package mcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// fields contains the checks of an object's members, by name. Other members are allowed.
type fields map[string]form

func object(spec fields) form {
	return func(v any, path string) error {
		sent, err := members(v, path)
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(sent)) {
			if check := spec[name]; check != nil && sent[name] != nil {
				if err := check(sent[name], path+"."+name); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func required(name string, check form) form {
	return func(v any, path string) error {
		if sent, ok := v.(map[string]any); ok && sent[name] == nil {
			return refuse(path+"."+name, "required")
		}
		return check(v, path)
	}
}

func members(v any, path string) (map[string]any, error) {
	sent, ok := v.(map[string]any)
	switch {
	case !ok:
		return nil, refuse(path, "must be an object")
	case len(sent) > maxFields:
		return nil, refuse(path, fmt.Sprintf("must not have more than %d members", maxFields))
	}
	return sent, nil
}

func anyObject(v any, path string) error {
	_, err := members(v, path)
	return err
}

func text(v any, path string) error {
	if s, ok := v.(string); !ok || len(s) > maxText {
		return refuse(path, fmt.Sprintf("must be a string of at most %d bytes", maxText))
	}
	return nil
}

func texts(v any, path string) error {
	list, ok := v.([]any)
	if !ok || len(list) > maxEntries {
		return refuse(path, fmt.Sprintf("must be a list of at most %d strings", maxEntries))
	}
	for i, v := range list {
		if err := text(v, fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	return nil
}

func oneOf(choices ...string) form {
	return func(v any, path string) error {
		if s, ok := v.(string); !ok || !slices.Contains(choices, s) {
			return refuse(path, "must be one of "+strings.Join(choices, ", "))
		}
		return nil
	}
}

func integer(low, high float64) form {
	return func(v any, path string) error {
		if n, ok := v.(float64); !ok || n != float64(int64(n)) || n < low || n > high {
			return refuse(path, fmt.Sprintf("must be an integer from %.0f to %.0f", low, high))
		}
		return nil
	}
}

// reservedHeaders are the headers of the connection or the protocol. A fixed value would
// break every call.
var reservedHeaders = []string{
	"host", "content-length", "content-type", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer", "accept", "accept-encoding",
	"mcp-session-id", "mcp-protocol-version", "last-event-id",
}

func headerName(v any, path string) error {
	name, ok := v.(string)
	switch {
	case !ok || !httpguts.ValidHeaderFieldName(name) || len(name) > 255:
		return refuse(path, "must be a valid header name")
	case slices.Contains(reservedHeaders, strings.ToLower(name)) || strings.HasPrefix(strings.ToLower(name), "proxy-"):
		return refuse(path, "must be omitted; the gateway sets this header")
	}
	return nil
}

func headers(v any, path string) error {
	sent, err := members(v, path)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if err := headerName(name, path+"."+name); err != nil {
			return err
		}
		if s, ok := sent[name].(string); !ok || len(s) > maxText || !httpguts.ValidHeaderFieldValue(s) {
			return refuse(path+"."+name, "must be a string without control characters")
		}
	}
	return nil
}

// headerShapes checks headers that users supply. An object describes such a header; a plain
// string is a fixed value.
func headerShapes(v any, path string) error {
	sent, err := members(v, path)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if _, plain := sent[name].(string); plain {
			if err := headers(map[string]any{name: sent[name]}, path); err != nil {
				return err
			}
			continue
		}
		if err := headerName(name, path+"."+name); err != nil {
			return err
		}
		if err := object(fields{"type": text, "example": text})(sent[name], path+"."+name); err != nil {
			return err
		}
	}
	return nil
}

// neverForwarded are the caller's headers that are not forwarded to any upstream, under their
// own name or another. Source: contract/content-and-observability.md 9.4.
var neverForwarded = []string{
	"cookie", "set-cookie", "x-api-key", "x-gateway-api-key", "api-key", "apikey", "x-auth-token", "x-access-token", "x-user-claims", "x-user-jwt",
}

// forwarded checks a list of header names, or an object with a mode and such a list.
func forwarded(v any, path string) error {
	if list, plain := v.([]any); plain {
		return forwardedList(list, path, forwardedOne)
	}
	sent, ok := v.(map[string]any)
	if !ok {
		return refuse(path, "must be a list of header names, or an object with mode and headers")
	}
	if err := required("mode", object(fields{"mode": oneOf("allowlist", "all-except")}))(v, path); err != nil {
		return err
	}
	path += ".headers"
	list, ok := orEmpty(sent["headers"]).([]any)
	if !ok {
		return refuse(path, "must be a list")
	}
	each := forwardedOne
	if sent["mode"] == "all-except" { // a plain name is an exception, so any name is allowed
		each = func(v any, path string) error {
			if _, plain := v.(string); plain {
				return text(v, path)
			}
			return forwardedOne(v, path)
		}
	}
	return forwardedList(list, path, each)
}

func forwardedList(list []any, path string, each form) error {
	if len(list) > maxEntries {
		return refuse(path, fmt.Sprintf("must not have more than %d headers", maxEntries))
	}
	for i, entry := range list {
		if err := each(entry, fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	return nil
}

func orEmpty(v any) any {
	if v == nil {
		return []any{}
	}
	return v
}

// forwardedOne checks a header name, or the two names of a header that the gateway renames.
func forwardedOne(v any, path string) error {
	if sent, renamed := v.(map[string]any); renamed {
		for _, side := range []string{"from", "to"} {
			if err := forwardedOne(orName(sent[side]), path+"."+side); err != nil {
				return err
			}
		}
		return nil
	}
	if err := headerName(v, path); err != nil {
		return err
	}
	if name, _ := v.(string); slices.Contains(neverForwarded, strings.ToLower(name)) {
		return refuse(path, "must be omitted; the gateway never forwards this header")
	}
	return nil
}

// orName returns v if it is a string, and "" otherwise, so that an object is not accepted as
// a name.
func orName(v any) any {
	if s, ok := v.(string); ok {
		return s
	}
	return ""
}

// reservedParams are the parameters that the gateway sets when it sends a user to sign in.
// Source: contract/content-and-observability.md 9.3.
var reservedParams = []string{
	"response_type", "client_id", "client_secret", "code_challenge", "code_challenge_method", "redirect_uri", "state", "scope", "resource",
}

func authorizationParams(v any, path string) error {
	sent, err := members(v, path)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if slices.Contains(reservedParams, name) {
			return refuse(path+"."+name, "must be omitted; the gateway sets this parameter")
		}
		if err := text(sent[name], path+"."+name); err != nil {
			return err
		}
	}
	return nil
}
