package upstreamerror

import (
	"encoding/json"
	"fmt"
	"strings"
)

// statusCode is a placeholder for the HTTP status in details.code.
const statusCode = "\x00status"

// object is a decoded JSON object.
type object = map[string]any

// shapes maps the name of an error shape to its reader. A reader that does not recognise its
// shape returns no message.
// Source: contract/providers.yaml error_shapes.
var shapes = map[string]func(object) details{
	"openai": openaiError,
	"openai_msg_type": func(m object) details {
		return details{message: text(inner(m)["message"]), typ: text(inner(m)["type"])}
	},
	"openai_code_str": func(m object) details {
		e := inner(m)
		return details{message: text(e["message"]), typ: text(e["type"]), code: text(e["code"])}
	},
	"flat":       flatError,
	"message":    onlyMessage,
	"aws":        func(m object) details { return details{message: either(m, "message", "Message")} },
	"cohere":     onlyMessage,
	"detail_str": func(m object) details { return details{message: str(m["detail"])} },
	"detail_list": func(m object) details {
		return detailList(m["detail"])
	},
	"detail":     func(m object) details { return detailOf(m["detail"], 0) },
	"error_text": errorText,
	"error_str":  func(m object) details { return details{message: str(m["error"])} },
	"error_str_status": func(m object) details {
		return details{message: str(m["error"]), code: statusCode}
	},
	"anthropic": func(m object) details {
		return details{message: text(inner(m)["message"]), typ: text(inner(m)["type"])}
	},
	"google": func(m object) details {
		e := inner(m)
		return details{message: text(e["message"]), typ: text(e["status"]), code: text(e["code"])}
	},
	"cloudflare": func(m object) details { return details{message: cloudflare(m)} },
	"together":   together,
	"fireworks":  fireworks,
	"stability_v1": func(m object) details {
		return details{message: text(m["message"]), typ: text(m["name"])}
	},
	"stability_v2": func(m object) details {
		return details{message: join(m["errors"]), typ: text(m["name"]), param: text(m["id"])}
	},
	"oci": func(m object) details {
		return details{message: text(m["message"]), typ: text(m["code"]), code: text(m["code"])}
	},
	"html": onlyMessage,
	"reka": func(m object) details {
		if m["detail"] == nil {
			return details{}
		}
		return details{message: compact(m["detail"])}
	},
	"xai": func(m object) details {
		if s := str(m["error"]); s != "" {
			return details{message: s, code: text(m["code"])}
		}
		return details{message: text(inner(m)["message"]), code: text(m["code"])}
	},
}

func openaiError(m object) details {
	e := inner(m)
	return details{message: text(e["message"]), typ: text(e["type"]), param: text(e["param"]), code: text(e["code"])}
}

func flatError(m object) details {
	message := text(m["message"])
	if _, nested := m["message"].(object); nested { // Mistral rejects a field this way
		message = compact(m["message"])
	}
	return details{message: message, typ: text(m["type"]), param: text(m["param"]), code: either(m, "code", "statusCode")}
}

// errorText reads {"error":"…"}. TGI adds error_type.
func errorText(m object) details {
	return details{message: str(m["error"]), typ: either(m, "error_type", "type"), param: text(m["param"])}
}

func onlyMessage(m object) details { return details{message: text(m["message"])} }

// inner returns the object in "error". If there is none it returns nil, which reads as empty.
func inner(m object) object {
	e, _ := m["error"].(object)
	return e
}

func str(v any) string {
	s, _ := v.(string)
	return s
}

// text returns a string, or a number as a string. For any other value it returns "".
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

func either(m object, names ...string) string {
	for _, n := range names {
		if s := text(m[n]); s != "" {
			return s
		}
	}
	return ""
}

func compact(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, _ := json.Marshal(v) // cannot fail: v was decoded from JSON
	return Clip(string(b), maxErrorQuoteBytes)
}

func join(v any) string {
	list, _ := v.([]any)
	var parts []string
	for _, e := range list {
		if s := text(e); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ", ")
}

// detailOf reads the "detail" of FastAPI servers. It is a string, an object or a list of errors.
// A string may be the JSON of another server's error.
func detailOf(v any, depth int) details {
	switch v := v.(type) {
	case string:
		if m := decoded(v); depth == 0 && m != nil {
			if d := detailOf(m, 1); d.message != "" {
				return d
			}
		}
		return details{message: v}
	case []any:
		return detailList(v)
	case object:
		for _, read := range [...]func(object) details{openaiError, flatError, errorText} {
			if d := read(v); d.message != "" {
				return d
			}
		}
		return details{message: compact(v)}
	}
	return details{}
}

// decoded parses a string as a JSON object. It returns nil if it is not one.
func decoded(s string) (m object) {
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	if !strings.HasPrefix(s, "{") || dec.Decode(&m) != nil {
		return nil
	}
	return m
}

// detailList reads FastAPI's errors: {"detail":[{"loc":["body","n"],"msg":…,"type":…}]}.
func detailList(v any) details {
	if s := str(v); s != "" {
		return details{message: s}
	}
	list, _ := v.([]any)
	var d details
	for k, e := range list {
		item, _ := e.(object)
		loc, _ := item["loc"].([]any)
		var path []string
		for _, l := range loc {
			path = append(path, text(l))
		}
		line := str(item["msg"])
		if len(path) > 0 {
			line = strings.Join(path, ".") + ": " + line
		}
		if k == 0 {
			d = details{message: line, typ: str(item["type"])}
		} else {
			d.message += ", " + line
		}
	}
	return d
}

func cloudflare(m object) string {
	list, _ := m["errors"].([]any)
	var parts []string
	for _, e := range list {
		if item, ok := e.(object); ok {
			parts = append(parts, fmt.Sprintf("Error %s:%s", text(item["code"]), text(item["message"])))
		}
	}
	return strings.Join(parts, ", ")
}

func together(m object) details {
	if s := str(m["error"]); s != "" {
		return details{message: s, typ: text(m["type"]), param: text(m["param"]), code: text(m["code"])}
	}
	if inner(m) != nil {
		return openaiError(m)
	}
	return details{message: text(m["message"]), typ: text(m["type"])}
}

func fireworks(m object) details {
	if f, ok := m["fault"].(object); ok {
		more, _ := f["detail"].(object)
		return details{message: text(f["faultstring"]), code: text(more["errorcode"])}
	}
	if s := str(m["detail"]); s != "" {
		return details{message: s}
	}
	if s := str(m["error"]); s != "" {
		return details{message: s}
	}
	return details{}
}
