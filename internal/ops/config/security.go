package config

import (
	"strings"

	"sluice/internal/kernel/sealed"
)

// Security protects stored secrets, and sets which hosts and proxies the gateway trusts.
type Security struct {
	// EncryptionKey encrypts stored secrets (AES-256-GCM with a key derived from it). If it
	// is empty, the gateway generates a random key in `DATA_DIR` that only its owner can
	// read. Several gateways on one database need the same key. If you lose the key, you
	// lose every stored provider credential and saved config. To change it, set the new
	// key, a comma and the old key. The gateway then decrypts with both keys and encrypts
	// with the first. A key that begins with `/`, `./` or `../` is the path of a file, and
	// the start stops if the file is missing or unreadable. Only a base64 key of 16 bytes
	// or more can itself begin with `/`. A file can contain several keys, one a line, like
	// the key file of `DATA_DIR` during a rotation.
	EncryptionKey sealed.String `env:"ENCRYPTION_KEY" check:"encryption-keys"`

	// APIKeyPrefix is the beginning of every new API key.
	APIKeyPrefix string `env:"API_KEY_PREFIX" envDefault:"sk-" check:"key-prefix"`

	// BlockInlineConfig rejects calls that bring their own config, provider credential,
	// custom host or forwarded headers. The gateway then serves only saved configs and
	// providers.
	BlockInlineConfig bool `env:"BLOCK_INLINE_CONFIG" envDefault:"OFF"`

	// TrustedCustomHosts are private hosts that callers can use as custom hosts and in
	// other addresses. An entry is a host name, which includes its subdomains, `*.domain`
	// or an IP address. All other private, loopback and metadata addresses are rejected.
	// This setting does not allow stored credentials to be sent to these hosts
	// (`STORED_KEY_HOSTS`).
	TrustedCustomHosts []string `env:"TRUSTED_CUSTOM_HOSTS" check:"trusted-host"`

	// StoredKeyHosts are additional hosts, each with its port (`llm.internal:8443`), that
	// can receive stored credentials. By default a stored credential goes only to the hosts
	// saved with it and to those of its provider. A call names an additional host in
	// `x-gateway-custom-host`, or in `custom_host` and other addresses of a config. The
	// gateway's own cloud identity goes to a host that a saved provider, config or secret
	// reference names only if that host is listed here. Each entry covers one host and
	// port. A host at a private address must also be in `TRUSTED_CUSTOM_HOSTS`. Everyone
	// who can use a stored credential can have it sent there, so list only hosts that you
	// trust with every stored credential.
	StoredKeyHosts []string `env:"STORED_KEY_HOSTS" check:"endpoint"`

	// TrustedProxies are the proxies and load balancers in front of the gateway, as
	// networks or addresses such as `10.0.0.0/8`. The gateway trusts their
	// `X-Forwarded-For` and `X-Forwarded-Proto` headers. The address of a caller, in the
	// audit log and the request log, is the address of the connection. If the connection
	// comes from a trusted proxy, it is the last address in `X-Forwarded-For` that is not a
	// trusted proxy.
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

// Features enables or disables parts of the administration. Routes of a disabled part
// return 403 with code AB03.
type Features struct {
	// Guardrails enables guardrails and their administration. When `OFF`, no guardrail runs,
	// and calls pass that a guardrail would deny.
	Guardrails bool `env:"GUARDRAILS_ENABLED" envDefault:"ON"`

	// APIAccess enables the administration for API keys.
	APIAccess bool `env:"API_ACCESS_ENABLED" envDefault:"ON"`

	// DataExports enables log exports.
	DataExports bool `env:"DATA_EXPORTS_ENABLED" envDefault:"ON"`

	// UsageLimits enables usage limits, and applies them to calls.
	UsageLimits bool `env:"USAGE_LIMITS_ENABLED" envDefault:"ON"`

	// AuditLogs records administrative actions and enables the audit log. When `OFF`,
	// nothing is recorded.
	AuditLogs bool `env:"AUDIT_LOGS_ENABLED" envDefault:"ON"`

	// SCIM enables user provisioning through SCIM. This version does not have SCIM routes
	// yet; use invitations.
	SCIM bool `env:"SCIM_ENABLED" envDefault:"ON"`

	// Policy enables usage-limit and rate-limit policies, and applies them to calls.
	Policy bool `env:"POLICY_ENABLED" envDefault:"ON"`
}

// Deployments limits how many gateway deployments an organisation can register.
type Deployments struct {
	// MaxProduction is the maximum number of production deployments.
	MaxProduction int `env:"MAX_PRODUCTION_DEPLOYMENTS" envDefault:"50" range:"0..1000"`

	// MaxNonProduction is the maximum number of non-production deployments.
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
