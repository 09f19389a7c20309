package call

// HeaderPrefix begins the name of every header that controls the gateway or that the gateway adds
// to a response: "x-gateway-config".
const HeaderPrefix = "x-gateway-"
