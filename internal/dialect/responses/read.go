package responses

import (
	"encoding/json"
	"strconv"

	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// isNull reports whether a raw value says nothing.
func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func isTrue(raw []byte) bool { return string(raw) == "true" }

// plainName is a name of splice.Members without quotes and escapes.
func plainName(raw []byte) string {
	s, _ := splice.Unquote(raw)
	return s
}

// member is a text member of an object, "" when there is none.
func member(raw []byte, name string) string {
	val, _ := splice.Find(raw, name)
	s, _ := splice.Unquote(val)
	return s
}

func str(raw []byte, at string) (string, error) {
	s, ok := splice.Unquote(raw)
	if !ok {
		return "", refuse(at, "must be a string")
	}
	return s, nil
}

func index(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

// extra notes a member that this shape does not know.
func extra(list []llm.Param, name, at string, raw []byte) []llm.Param {
	return append(list, llm.Param{Name: name, From: at + "." + name, Raw: raw})
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func refuse(param, text string) error {
	return fault.Newf(fault.InvalidParameter, "%s %s", param, text).At(param)
}

// readCache reads {"type":"ephemeral","ttl":"1h"}.
func readCache(raw []byte) *llm.Cache {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	return &llm.Cache{TTL: member(raw, "ttl")}
}
