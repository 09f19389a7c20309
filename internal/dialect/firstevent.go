package dialect

// FirstEvent reports whether p, the beginning of a stream, holds a first whole line of
// data; comments and bare names do not count.
func FirstEvent(p []byte) bool {
	_, ok := firstEvent(p)
	return ok
}

// FirstEventError reports whether the first data in p is an error, and the status that
// stands for it: 529 for overloaded_error, the code of the error where it is a status,
// otherwise by its type, 500 when nothing tells. The walk may then move on, for
// nothing has been relayed.
// Source: contract/dataplane.md 4.3.
func FirstEventError(p []byte) (status int, failed bool) {
	e, ok := firstEvent(p)
	if !ok {
		return 0, false
	}
	f, ok := findFault(e)
	if !ok {
		return 0, false
	}
	return f.status(), true
}

func firstEvent(p []byte) (event, bool) {
	var c cursor
	var joined, name []byte
	for {
		n := c.end(p, Lines)
		if n == 0 {
			return event{}, false
		}
		e := parse(p[:n], &joined)
		if e.name != nil {
			name = e.name
		}
		if len(e.data) > 0 {
			e.name = name
			return e, true
		}
		p = p[n:]
	}
}
