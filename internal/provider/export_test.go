package provider

// LoadFS reads spec files from another place than the embedded one.
var LoadFS = load
