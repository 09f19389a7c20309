package credential

import (
	"encoding/json"
	"slices"

	"sluice/internal/kernel/fault"
)

// SecretReferenceKind is the kind of the stored record of a secret reference.
const SecretReferenceKind = "secret_reference"

// SecretReference is the stored body of a secret reference: where an external secret
// manager keeps a secret, and how to sign in to it. The secret itself is never kept.
// Source: contract/identity-and-governance.yaml, SecretReference.
type SecretReference struct {
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	Manager     Manager           `json:"manager_type"`
	Auth        []byte            `json:"auth_config"` // sealed JSON object of texts, under ReferenceContext
	Path        string            `json:"secret_path"` // name or address in the manager, for example "prod/openai"
	Key         string            `json:"secret_key,omitempty"`
	All         bool              `json:"allow_all_workspaces"`
	Workspaces  []string          `json:"allowed_workspaces,omitempty"` // ids; empty when All
	Tags        map[string]string `json:"tags,omitempty"`
	CreatedBy   string            `json:"created_by,omitempty"`
}

// ReferenceContext is what the sign-in of a record is sealed under.
func ReferenceContext(recordID string) string { return SecretReferenceKind + "/" + recordID }

// VisibleTo reports whether a workspace may use the reference.
func (s *SecretReference) VisibleTo(workspaceID string) bool {
	return s.All || slices.Contains(s.Workspaces, workspaceID)
}

// Manager is a sort of secret manager, as it stands on the wire.
type Manager string

// The managers.
const (
	AWSSecretsManager Manager = "aws_sm"
	AzureKeyVault     Manager = "azure_kv"
	HashiCorpVault    Manager = "hashicorp_vault"
)

// SecretUse is a mapping made ready for calls. It is shared by many requests and
// never changed.
type SecretUse struct {
	Field  string // credential field to fill: "key"
	Key    string // member of the secret; empty for the whole of it
	Format string // string (also when empty) or json
	// Source is where the secret is kept; nil when the reference is gone or not for
	// the workspace of the account.
	Source *SecretSource
}

// SecretSource is a secret reference made ready for calls.
type SecretSource struct {
	RecordID string
	Revision int64 // another one means that what was kept of it is stale
	Manager  Manager
	Path     string
	Auth     map[string]string // secrets in the clear: never printed, never logged
}

// String keeps the sign-in out of every print.
func (s *SecretSource) String() string { return "secret reference " + s.RecordID }

// GoString keeps the sign-in out of %#v.
func (s *SecretSource) GoString() string { return s.String() }

// MarshalJSON keeps the sign-in out of every encoding.
func (s *SecretSource) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// Limits of a reference.
const (
	maxAuthText = 16 << 10
	maxPath     = 1024
)

// Validate holds what is stored in the clear against its limits.
func (s *SecretReference) Validate() error {
	switch {
	case s.Path == "" || len(s.Path) > maxPath:
		return fault.Newf(fault.InvalidParameter, "must be a string of 1 to %d characters", maxPath).WithParam("secret_path")
	case !pathForms[s.Manager].MatchString(s.Path):
		return fault.New(fault.InvalidParameter, pathHelp[s.Manager]).WithParam("secret_path")
	case s.All == (len(s.Workspaces) > 0):
		return fault.New(fault.InvalidParameter, "set allow_all_workspaces or allowed_workspaces, not both").WithParam("allow_all_workspaces")
	}
	return nil
}
