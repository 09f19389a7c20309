package sign

// list names every scheme a provider's file may use. To add one, write its file
// and its line.
func list(o Options) map[string]Signer {
	return map[string]Signer{
		"none":   none{},
		"header": header{},
		"query":  query{},
		"aws":    newAWS(o),
		"azure":  newAzure(o),
		"gcp":    newGCP(o),
		"oci":    newOCI(o),
	}
}
