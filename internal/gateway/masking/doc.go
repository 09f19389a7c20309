// Package masking removes secrets from what the gateway records and from the errors that it
// returns. Headers writes the headers of a call for its record; Credentials masks the credential
// of an attempt in errors of its provider, which quote what they refuse.
package masking
