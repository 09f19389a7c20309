package sealed

// Mapping states that a field is not stored here: a call reads it from a secret manager when
// needed. Records with secrets also contain a list of mappings.
// Source: contract/identity-and-governance.yaml, SecretMapping.
type Mapping struct {
	Target    string `json:"target_field"`           // "key", "configurations.aws_secret_access_key"
	Reference string `json:"secret_reference_id"`    // id of the record
	Key       string `json:"secret_key,omitempty"`   // takes precedence over the key of the reference
	Format    string `json:"value_format,omitempty"` // string (also when empty) or json
	Field     string `json:"field"`                  // Target without its prefix
}
