package sign

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
