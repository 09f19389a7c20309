package tenant_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/domain/tenant"
)

// A small schema cannot make a large check of metadata: what is looked at is counted before
// it is taken.
func TestSchemasAreBounded(t *testing.T) {
	t.Parallel()
	// chain has depth definitions of which each names the next one twice by a keyword.
	chain := func(keyword string, depth int) string {
		var b strings.Builder
		for i := range depth {
			fmt.Fprintf(&b, `"a%d":{"%s":[{"$ref":"#/definitions/a%d"},{"$ref":"#/definitions/a%d"}]},`, i, keyword, i+1, i+1)
		}
		return fmt.Sprintf(`"definitions":{%s"a%d":{"required":["x"]}}`, b.String(), depth)
	}
	for name, c := range map[string]struct {
		schema string
		ok     bool
	}{
		"a part that is used twice": {`{"type":"object","properties":{"a":{"type":"string","allOf":[{"$ref":"#/definitions/b"}]},"c":{"type":"string","allOf":[{"$ref":"#/definitions/b"}]}},"definitions":{"b":{"maxLength":3}}}`, true},
		"a chain of few":            {`{"type":"object","anyOf":[{"$ref":"#/definitions/a0"}],` + chain("anyOf", 8) + `}`, true},
		"a chain of many":           {`{"type":"object","anyOf":[{"$ref":"#/definitions/a0"}],` + chain("anyOf", 40) + `}`, false},
		"one by allOf":              {`{"type":"object","not":{"$ref":"#/definitions/a0"},` + chain("allOf", 40) + `}`, false},
		"one by oneOf, of values":   {`{"type":"object","properties":{"a":{"type":"string","oneOf":[{"$ref":"#/definitions/a0"}]}},` + chain("oneOf", 40) + `}`, false},
		"one of other values":       {`{"type":"object","patternProperties":{".":{"$ref":"#/definitions/a0"}},` + chain("oneOf", 40) + `}`, false},
		"one of names":              {`{"type":"object","propertyNames":{"if":{"$ref":"#/definitions/a0"}},` + chain("oneOf", 40) + `}`, false},
		"one of what depends":       {`{"type":"object","dependencies":{"a":{"$ref":"#/definitions/a0"}},` + chain("oneOf", 40) + `}`, false},
		"one that nothing leads to": {`{"type":"object",` + chain("oneOf", 40) + `}`, true},
		"below members of members":  {`{"type":"object","properties":{"a":{"type":"string","properties":{"b":{"$ref":"#"}}}}}`, true},
	} {
		err := tenant.Schemas{APIKey: json.RawMessage(c.schema)}.Validate()
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
