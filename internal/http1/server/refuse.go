package server

import (
	"errors"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
)

// refuse sends an error response for data that is not a valid request. For an error of the
// connection itself it does not send anything.
func (c *conn) refuse(err error) step {
	f := (*fault.Error)(nil)
	if !errors.As(err, &f) {
		return closeNow
	}
	c.s.Log.Debug("rejected malformed request", "remote", c.remote, "error", f.Error())
	c.reusable, c.body = false, nil
	h, text := wire.Refusal(f)
	c.out.begin("")
	defer c.out.free()
	if c.out.Head(f.HTTPStatus(), h, int64(len(text))) != nil {
		return closeNow
	}
	if _, err := c.out.Write(text); err != nil || c.out.finish() != nil {
		return closeNow
	}
	return lingerOn
}

func malformed(what string) error {
	return fault.New(fault.InvalidRequest, "the request is not valid HTTP/1.1: "+what)
}

func tooLarge() error { return refusal(431, "the request header is too large") }

func refusal(status int, what string) error {
	f := fault.New(fault.InvalidRequest, what)
	f.Status = status
	return f
}
