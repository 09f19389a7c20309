package dialect

import (
	"bytes"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/upstreamerror"
)

// FirstEvent reports whether p, the beginning of a stream, contains a first complete line of
// data. Comments, names without data and the pings of messages do not count.
func FirstEvent(p []byte) bool {
	_, ok := firstEvent(p)
	return ok
}

// FirstData is the data of the first event in p that has data, empty if there is none yet.
func FirstData(p []byte) []byte {
	e, _ := firstEvent(p)
	return e.data
}

// FirstEventError reports whether the first data in p is an error, and its HTTP status: 529 for
// overloaded_error, the code of the error if that is a status, otherwise the status of its
// type, or 500 if that is unknown. Then the next target may be tried, because nothing was
// relayed.
// Source: contract/dataplane.md 4.3.
func FirstEventError(p []byte) (status int, failed bool) {
	e, ok := firstEvent(p)
	if !ok {
		return 0, false
	}
	f, ok := upstreamerror.Find(e.name, e.data)
	if !ok {
		return 0, false
	}
	return f.Status(), true
}

// FirstEventFailure is the error that FirstEventError found, as a response in OpenAI's shape:
// {"error":{"message":"Overloaded","type":"overloaded_error","code":…}}, with the additional
// members of the error object. If the event has no field for a type, like that of responses, a
// code that is a name is also the type. It is nil if there is no error.
func FirstEventFailure(p []byte) []byte {
	e, ok := firstEvent(p)
	if !ok {
		return nil
	}
	f, ok := upstreamerror.Find(e.name, e.data)
	if !ok {
		return nil
	}
	typ := f.Kind()
	if f.Type == upstreamerror.EventName && typ == "" {
		typ = f.Named()
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Key("error").Open('{')
	w.Str("message", f.Message)
	w.Opt("type", typ)
	w.Opt("code", f.Code)
	w.Params(upstreamerror.Extra(e.data))
	w.Close('}')
	w.Close('}')
	return w.B
}

// ping is the name of events that only keep a stream of messages open.
var ping = []byte("ping")

func firstEvent(p []byte) (event, bool) {
	var c cursor
	var joined, name []byte
	for {
		n := c.end(p, Lines)
		if n == 0 {
			return event{}, false
		}
		e := parse(p[:n], &joined)
		switch {
		case e.name != nil:
			name = e.name
		case len(bytes.TrimSpace(p[:n])) == 0: // the end of an event
			name = nil
		}
		if len(e.data) > 0 && !bytes.Equal(name, ping) {
			e.name = name
			return e, true
		}
		p = p[n:]
	}
}
