package config

// People sets how users sign in.
type People struct {
	// AuthMode is the way to sign in. With `LOCAL` users sign in with an email address and
	// a password that the gateway stores. `NO_AUTH` works like `LOCAL`; it does not allow
	// anonymous access. `SSO` (only an identity provider) stops the start, because sign-in
	// through an identity provider is not implemented yet.
	AuthMode string `env:"AUTH_MODE" envDefault:"LOCAL" oneof:"LOCAL,SSO,NO_AUTH"`

	// ConsoleURL is the address at which users reach this gateway with a browser, for links
	// in emails: `https://gateway.example.com`. If it is empty, links use the address of
	// the listener.
	ConsoleURL string `env:"CONTROL_PLANE_URL" check:"web-url"`
}

// validate refuses what would lock everybody out.
// Source: contract/identity-and-governance.md, AUTH_MODE.
func (p *People) validate(report reporter) {
	if p.AuthMode == "SSO" {
		report("AUTH_MODE", "is SSO, but sign-in through an identity provider is not implemented yet, so no user could sign in", "LOCAL, so that users sign in with passwords")
	}
}
