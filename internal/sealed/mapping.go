package sealed

// Mapping says that a secret is not kept here: a field is read from a secret manager when
// a call needs it. Whoever stores secrets stores a list of them beside.
// Source: contract/identity-and-governance.yaml, SecretMapping.
type Mapping struct {
	Target    string `json:"target_field"`           // "key", "configurations.aws_secret_access_key"
	Reference string `json:"secret_reference_id"`    // id of the record
	Key       string `json:"secret_key,omitempty"`   // beats that of the reference
	Format    string `json:"value_format,omitempty"` // string (also when empty) or json
	Field     string `json:"field"`                  // Target without its prefix
}
