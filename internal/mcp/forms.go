package mcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// fields are the members of an object. Members that it does not list are kept.
type fields map[string]form

func object(of fields) form {
	return func(v any, at string) error {
		sent, err := members(v, at)
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(sent)) {
			if check := of[name]; check != nil && sent[name] != nil {
				if err := check(sent[name], at+"."+name); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func required(name string, check form) form {
	return func(v any, at string) error {
		if sent, ok := v.(map[string]any); ok && sent[name] == nil {
			return refuse(at+"."+name, "required")
		}
		return check(v, at)
	}
}

func members(v any, at string) (map[string]any, error) {
	sent, ok := v.(map[string]any)
	switch {
	case !ok:
		return nil, refuse(at, "the value is an object")
	case len(sent) > maxFields:
		return nil, refuse(at, fmt.Sprintf("there are at most %d members", maxFields))
	}
	return sent, nil
}

func anyObject(v any, at string) error {
	_, err := members(v, at)
	return err
}

func text(v any, at string) error {
	if s, ok := v.(string); !ok || len(s) > maxText {
		return refuse(at, fmt.Sprintf("the value is a text of at most %d bytes", maxText))
	}
	return nil
}

func texts(v any, at string) error {
	list, ok := v.([]any)
	if !ok || len(list) > maxEntries {
		return refuse(at, fmt.Sprintf("the value is a list of at most %d texts", maxEntries))
	}
	for i, v := range list {
		if err := text(v, fmt.Sprintf("%s[%d]", at, i)); err != nil {
			return err
		}
	}
	return nil
}

func oneOf(words ...string) form {
	return func(v any, at string) error {
		if s, ok := v.(string); !ok || !slices.Contains(words, s) {
			return refuse(at, "the value is one of "+strings.Join(words, ", "))
		}
		return nil
	}
}

func whole(low, high float64) form {
	return func(v any, at string) error {
		if n, ok := v.(float64); !ok || n != float64(int64(n)) || n < low || n > high {
			return refuse(at, fmt.Sprintf("the value is a whole number from %.0f to %.0f", low, high))
		}
		return nil
	}
}

// ownHeaders are those that belong to the connection or the protocol: a fixed value
// would break every call.
var ownHeaders = []string{
	"host", "content-length", "content-type", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer", "accept", "accept-encoding",
	"mcp-session-id", "mcp-protocol-version", "last-event-id",
}

func headerName(v any, at string) error {
	name, ok := v.(string)
	switch {
	case !ok || !httpguts.ValidHeaderFieldName(name) || len(name) > 255:
		return refuse(at, "this is not the name of a header")
	case slices.Contains(ownHeaders, strings.ToLower(name)) || strings.HasPrefix(strings.ToLower(name), "proxy-"):
		return refuse(at, "the gateway sets this header itself")
	}
	return nil
}

func headers(v any, at string) error {
	sent, err := members(v, at)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if err := headerName(name, at+"."+name); err != nil {
			return err
		}
		if s, ok := sent[name].(string); !ok || len(s) > maxText || !httpguts.ValidHeaderFieldValue(s) {
			return refuse(at+"."+name, "the value is a text without control characters")
		}
	}
	return nil
}

// headerShapes are headers that users bring themselves, each described by an object; a
// plain text means a fixed value.
func headerShapes(v any, at string) error {
	sent, err := members(v, at)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if _, plain := sent[name].(string); plain {
			if err := headers(map[string]any{name: sent[name]}, at); err != nil {
				return err
			}
			continue
		}
		if err := headerName(name, at+"."+name); err != nil {
			return err
		}
		if err := object(fields{"type": text, "example": text})(sent[name], at+"."+name); err != nil {
			return err
		}
	}
	return nil
}

// neverForwarded are the headers of callers that no upstream may see, under their own
// name or another. Source: contract/content-and-observability.md 9.4.
var neverForwarded = []string{
	"cookie", "set-cookie", "x-api-key", "x-gateway-api-key", "api-key", "apikey", "x-auth-token", "x-access-token", "x-user-claims", "x-user-jwt",
}

// forwarded is a list of names, or an object with a mode and such a list.
func forwarded(v any, at string) error {
	if list, plain := v.([]any); plain {
		return forwardedList(list, at, forwardedOne)
	}
	sent, ok := v.(map[string]any)
	if !ok {
		return refuse(at, "the value is a list of header names, or an object with mode and headers")
	}
	if err := required("mode", object(fields{"mode": oneOf("allowlist", "all-except")}))(v, at); err != nil {
		return err
	}
	at += ".headers"
	list, ok := orEmpty(sent["headers"]).([]any)
	if !ok {
		return refuse(at, "the value is a list")
	}
	each := forwardedOne
	if sent["mode"] == "all-except" { // a plain name is not forwarded, whatever it is
		each = func(v any, at string) error {
			if _, plain := v.(string); plain {
				return text(v, at)
			}
			return forwardedOne(v, at)
		}
	}
	return forwardedList(list, at, each)
}

func forwardedList(list []any, at string, each form) error {
	if len(list) > maxEntries {
		return refuse(at, fmt.Sprintf("there are at most %d headers", maxEntries))
	}
	for i, entry := range list {
		if err := each(entry, fmt.Sprintf("%s[%d]", at, i)); err != nil {
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

// forwardedOne is a name, or the two names of a header that is renamed on its way.
func forwardedOne(v any, at string) error {
	if sent, renamed := v.(map[string]any); renamed {
		for _, side := range []string{"from", "to"} {
			if err := forwardedOne(orName(sent[side]), at+"."+side); err != nil {
				return err
			}
		}
		return nil
	}
	if err := headerName(v, at); err != nil {
		return err
	}
	if name, _ := v.(string); slices.Contains(neverForwarded, strings.ToLower(name)) {
		return refuse(at, "this header is never forwarded")
	}
	return nil
}

// orName keeps an object from standing where a name belongs.
func orName(v any) any {
	if s, ok := v.(string); ok {
		return s
	}
	return ""
}

// ownParams are what the gateway itself says when it sends a user to sign in.
// Source: contract/content-and-observability.md 9.3.
var ownParams = []string{
	"response_type", "client_id", "client_secret", "code_challenge", "code_challenge_method", "redirect_uri", "state", "scope", "resource",
}

func authorizationParams(v any, at string) error {
	sent, err := members(v, at)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if slices.Contains(ownParams, name) {
			return refuse(at+"."+name, "the gateway sets this parameter itself")
		}
		if err := text(sent[name], at+"."+name); err != nil {
			return err
		}
	}
	return nil
}
