package gateway

// RenewMeter makes the gateway account with the parts that a test has replaced. It must be called
// before the first request.
func (g *Gateway) RenewMeter() { g.meter = g.newMeter() }
