package config

// People says how people sign in.
type People struct {
	// AuthMode is `LOCAL` (e-mail and password, kept here) or `SSO` (an identity
	// provider alone). `NO_AUTH` is read as `LOCAL`: nobody gets in unknown.
	AuthMode string `env:"AUTH_MODE" envDefault:"LOCAL" oneof:"LOCAL,SSO,NO_AUTH"`

	// ConsoleURL is the address under which people reach this gateway with a browser,
	// for links in mails: `https://gateway.example.com`. Without it the address that
	// it listens on is used.
	ConsoleURL string `env:"CONTROL_PLANE_URL" check:"web-url"`
}
