package prompt_test

import (
	"encoding/json"

	"sluice/internal/kernel/jsonedit"
)

func quote(s string) []byte { return jsonedit.Quote(s) }

func valid(b []byte) bool { return json.Valid(b) }
