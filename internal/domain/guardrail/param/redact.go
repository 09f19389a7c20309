package param

// Redact is the parameter of checks that can replace what they find: true, false or "reversible".
var Redact = Optional("redact", Redaction)

// reversible is the value that returns the originals in the response. (ours)
const reversible = "reversible"

// Redaction is true, false or "reversible".
var Redaction = Custom(redaction)

func redaction(v any) *Problem {
	if _, isBool := v.(bool); isBool || v == reversible {
		return nil
	}
	return Wrong(`must be true, false or "reversible"`)
}

// Redacts reports whether a value of Redact replaces what the check finds. A missing value, nil, does not.
func Redacts(v any) bool { return v == true || v == reversible }
