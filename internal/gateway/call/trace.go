package call

// Trace contains the ids that locate a request in its trace. They come from x-gateway-* headers or
// from W3C Trace Context; ID defaults to the id of the request. tracecontext.Read fills it.
type Trace struct{ ID, Span, Parent, Name string }
