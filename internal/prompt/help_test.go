package prompt_test

import (
	"encoding/json"

	"sluice/internal/splice"
)

func quote(s string) []byte { return splice.Quote(s) }

func valid(b []byte) bool { return json.Valid(b) }
