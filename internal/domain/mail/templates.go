package mail

import "slices"

// variables are the letters and what they say, besides companyName, logoUrl,
// supportEmail and docsUrl, which all have.
// Source: contract/identity-and-governance.yaml, emails.kinds; the variables of the
// last three are ours.
var variables = map[string][]string{
	"user-invite":                      {"organisationName", "inviterUserName", "inviterEmail", "inviteLink"},
	"user-email-verification":          {"verificationLink"},
	"apikey-usage-threshold-alert":     {"userName", "apiKeyType", "apiKey", "organisationName", "creditThreshold", "creditLimit"},
	"apikey-usage-exhausted-alert":     {"userName", "apiKeyType", "apiKey", "organisationName", "creditLimit"},
	"apikey-expired-alert":             {"userName", "apiKeyType", "apiKey", "organisationName"},
	"virtualkey-usage-threshold-alert": {"userName", "virtualKeyName", "organisationName", "creditThreshold", "creditLimit"},
	"virtualkey-usage-exhausted-alert": {"userName", "virtualKeyName", "organisationName", "creditLimit"},
	"virtualkey-expired-alert":         {"userName", "virtualKeyName", "organisationName"},
	"entity-usage-threshold-alert":     {"entityType", "entityName", "entityKey", "entityUrl", "userName", "organisationName", "creditThreshold", "creditLimit"},
	"entity-usage-exhausted-alert":     {"entityType", "entityName", "entityKey", "entityUrl", "userName", "organisationName", "creditLimit"},
	"entity-expired-alert":             {"entityType", "entityName", "entityKey", "entityUrl", "userName", "organisationName"},
	"domain-verification-alert":        {"organisationName", "domain", "verificationCode"},
	"apikey-rotated":                   {"userName", "apiKeyName", "apiKeyType", "apiKey", "organisationName", "transitionExpiresAt", "nextRotationAt"},
	"apikey-transition-expiring":       {"userName", "apiKeyName", "apiKeyType", "apiKey", "organisationName", "transitionExpiresAt"},
	"apikey-rotation-upcoming":         {"userName", "apiKeyName", "apiKeyType", "apiKey", "organisationName", "nextRotationAt"},
}

// secrets are the variables that open something: they are sealed in the outbox and never
// shown.
var secrets = []string{"inviteLink", "verificationLink", "verificationCode"}

func takes(template, variable string) bool { return slices.Contains(variables[template], variable) }
