package sign

import "sluice/internal/provider"

// list names every scheme a provider's file may use. To add one, write its file
// and its line.
func list(o Options) map[string]Signer {
	aws := newAWS(o)
	return map[string]Signer{
		"none":   none{},
		"header": header{},
		"query":  query{},
		"aws":    aws,
		"azure":  newAzure(o),
		"gcp":    newGCP(o, aws),
		"oci":    newOCI(o),
	}
}

// Hashes reports whether what a scheme adds is a signature over the body, so that one that
// could be sent once only must be held first.
func Hashes(a *provider.Auth, v provider.Values) bool {
	switch a.Scheme {
	case "aws":
		return v["aws_auth_type"] != "apiKey"
	case "oci":
		return true
	}
	return false
}
