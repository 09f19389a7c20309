package config

// People says how people sign in.
type People struct {
	// AuthMode is `LOCAL` (e-mail and password, kept here). `NO_AUTH` is read as `LOCAL`:
	// nobody gets in unknown. `SSO` (an identity provider alone) is refused at the start:
	// sign-in through an identity provider does not run yet, so nobody could sign in.
	AuthMode string `env:"AUTH_MODE" envDefault:"LOCAL" oneof:"LOCAL,SSO,NO_AUTH"`

	// ConsoleURL is the address under which people reach this gateway with a browser,
	// for links in mails: `https://gateway.example.com`. Without it the address that
	// it listens on is used.
	ConsoleURL string `env:"CONTROL_PLANE_URL" check:"web-url"`
}

// validate refuses what would lock everybody out.
// Source: contract/identity-and-governance.md, AUTH_MODE.
func (p *People) validate(report reporter) {
	if p.AuthMode == "SSO" {
		report("AUTH_MODE", "is SSO, but sign-in through an identity provider does not run yet: nobody could sign in", "LOCAL, so that people sign in with passwords")
	}
}
