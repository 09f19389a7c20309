package sign

import "sluice/internal/provider"

// list contains every scheme that a provider's file may use. To add a scheme, write its file
// and its line here.
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

// Hashes reports whether a scheme signs the body. A body that can be sent only once must then
// be buffered first.
func Hashes(a *provider.Auth, v provider.Values) bool {
	switch a.Scheme {
	case "aws":
		return v["aws_auth_type"] != "apiKey"
	case "oci":
		return true
	}
	return false
}
