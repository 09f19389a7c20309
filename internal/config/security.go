package config

import (
	"strings"

	"sluice/internal/sealed"
)

// Security holds the keys that protect stored secrets and the limits of trust.
type Security struct {
	// EncryptionKey seals stored secrets (AES-256-GCM under a key derived from it).
	// Without it a random key is made in `DATA_DIR`, readable by its owner alone;
	// several instances on one database need the same one. Losing it loses every
	// stored provider credential and saved config. To change it give the new key, a
	// comma and the old one: old secrets are still opened, new ones are sealed under
	// the first. A key that begins with `/`, `./` or `../` is the path of its file, and the
	// start stops when that is missing or may not be read; only a key in base64 of 16 bytes
	// or more may begin with `/` itself. A file may hold several, one a line, as the key
	// file of `DATA_DIR` does while keys are rotated.
	EncryptionKey sealed.String `env:"ENCRYPTION_KEY" check:"encryption-keys"`

	// APIKeyPrefix begins every API key made from now on.
	APIKeyPrefix string `env:"API_KEY_PREFIX" envDefault:"sk-" check:"key-prefix"`

	// BlockInlineConfig refuses callers who bring their own config, provider
	// credential, custom host or forwarded headers; only saved configs and providers
	// are served then.
	BlockInlineConfig bool `env:"BLOCK_INLINE_CONFIG" envDefault:"OFF"`

	// TrustedCustomHosts are hosts that custom hosts and other addresses named by
	// callers may point to although they are private: host names (with their
	// subdomains), `*.domain` or IP addresses. All other private, loopback and
	// metadata addresses are refused. A trusted host may be called, and nothing more: no
	// stored credential goes there because of it (`STORED_KEY_HOSTS`).
	TrustedCustomHosts []string `env:"TRUSTED_CUSTOM_HOSTS" check:"trusted-host"`

	// StoredKeyHosts are hosts, each with its port (`llm.internal:8443`), that stored
	// credentials may be sent to although they are neither saved with the credential nor
	// those of its provider: by `x-gateway-custom-host`, or by `custom_host` and other
	// addresses in a config. The gateway's own identity in a cloud, too, goes to a host that
	// a saved provider, config or secret reference names only when it is among these. An
	// entry covers that one host and port. One at a private address must be among
	// `TRUSTED_CUSTOM_HOSTS` as well. Whoever may use a stored credential can have it sent
	// there: list only hosts that may know every stored credential.
	StoredKeyHosts []string `env:"STORED_KEY_HOSTS" check:"endpoint"`

	// TrustedProxies are the proxies and load balancers in front of the gateway whose
	// `X-Forwarded-For` and `X-Forwarded-Proto` are believed, as networks or addresses:
	// `10.0.0.0/8`. The
	// address of a caller, in the audit log and in the request log, is that of the
	// connection; where that is a trusted proxy's, it is the last one in
	// `X-Forwarded-For` that is not.
	TrustedProxies []string `env:"TRUSTED_PROXIES" check:"network"`
}

// EncryptionKeys are the sealing secrets, the current one first, as sealed.NewBox
// takes them. It is empty when no key is set.
func (s Security) EncryptionKeys() [][]byte {
	var keys [][]byte
	for _, key := range splitKeys(s.EncryptionKey.Reveal()) {
		keys = append(keys, []byte(key))
	}
	return keys
}

// splitKeys cuts at commas and at the ends of lines.
func splitKeys(text string) []string { return splitList(strings.ReplaceAll(text, "\n", ",")) }

// Features switches parts of the administration interface off. The routes of a part
// that is off answer 403 with code AB03.
type Features struct {
	// Guardrails serves guardrails and runs them on requests.
	Guardrails bool `env:"GUARDRAILS_ENABLED" envDefault:"ON"`

	// APIAccess serves the administration interface to API keys.
	APIAccess bool `env:"API_ACCESS_ENABLED" envDefault:"ON"`

	// DataExports serves log exports.
	DataExports bool `env:"DATA_EXPORTS_ENABLED" envDefault:"ON"`

	// UsageLimits serves usage limits and applies them to requests.
	UsageLimits bool `env:"USAGE_LIMITS_ENABLED" envDefault:"ON"`

	// AuditLogs records administrative actions and serves the audit log. While it is
	// off nothing is recorded.
	AuditLogs bool `env:"AUDIT_LOGS_ENABLED" envDefault:"ON"`

	// SCIM serves user provisioning.
	SCIM bool `env:"SCIM_ENABLED" envDefault:"ON"`

	// Policy serves usage-limit and rate-limit policies and applies them.
	Policy bool `env:"POLICY_ENABLED" envDefault:"ON"`
}

// Deployments bounds how many gateways an organisation may register.
type Deployments struct {
	// MaxProduction is the most production gateways.
	MaxProduction int `env:"MAX_PRODUCTION_DEPLOYMENTS" envDefault:"50" range:"0..1000"`

	// MaxNonProduction is the most gateways of the other type.
	MaxNonProduction int `env:"MAX_NON_PRODUCTION_DEPLOYMENTS" envDefault:"50" range:"0..1000"`
}

// splitList cuts a comma list, trims its items and leaves empty ones out.
func splitList(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
