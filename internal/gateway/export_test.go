package gateway

// Reassemble makes the gateway use the parts that a test has replaced. It must be called before
// the first request.
func (g *Gateway) Reassemble() {
	g.meter = g.newMeter()
	g.assemble()
}
