package gateway

// conditionInputs provides the values that the conditions of a config read. Each value is read on
// demand.
type conditionInputs struct{ x *exchange }

// Metadata returns a value of the request's metadata.
func (f conditionInputs) Metadata(key string) (string, bool) {
	v, ok := f.x.metadata[key]
	return v, ok
}

// Param returns a decoded field of a JSON body, unless it is a list or object. Forms and other
// bodies do not have fields.
// Source: contract/dataplane.md 4.6.
func (f conditionInputs) Param(key string) (any, bool) {
	if f.x.doc == nil {
		return nil, false
	}
	if key == "model" && f.x.deployed != "" {
		return f.x.deployed, true
	}
	return f.x.doc.Scalar(key)
}

// Path returns the path of the request. It replaces a prefix that is not the gateway's by /v1.
func (f conditionInputs) Path() string {
	if f.x.alias.Foreign() {
		return "/v1" + f.x.path
	}
	return f.x.req.Path
}
