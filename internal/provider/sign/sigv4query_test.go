package sign

import "testing"

// A query is signed as AWS reads it: split at "&", decoded, encoded, and in order of the
// encoded names and values.
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
// (canonical query string), read 2026-11; for what its words leave open, ours.
func TestCanonicalQueries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ query, want string }{
		{"", ""},
		{"a", "a="},
		{"b=2&a=1", "a=1&b=2"},
		{"a=2&a=1&a=", "a=&a=1&a=2"},
		{"a&&b&", "a=&b="},
		{"=x", "=x"},
		{"a=b=c", "a=b%3Dc"},
		{"a;b=c", "a%3Bb=c"},
		{"a=1;2&b=3", "a=1%3B2&b=3"},
		{"a=1&d=%zz", "a=1&d=%25zz"},
		{"a=%&b=%4&%=1", "%25=1&a=%25&b=%254"},
		{"filter-b=1&filter%5Ba%5D=2", "filter%5Ba%5D=2&filter-b=1"},
		{"a-b=1&a=2", "a=2&a-b=1"},
		{"a=z&a=%5B&a=-", "a=%5B&a=-&a=z"},
		{"q=a+b%20c%2bd", "q=a%20b%20c%2Bd"},
		{"q=%c3%a9\u00e9", "q=%C3%A9%C3%A9"},
		{"q=%7E%2Fa*b", "q=~%2Fa%2Ab"},
	} {
		if got := string(appendQuery(nil, c.query)); got != c.want {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}
}

// FuzzCanonicalQuery: what is canonical stays as it is.
func FuzzCanonicalQuery(f *testing.F) {
	for _, q := range []string{"a=1&b=2", "a;b=c", "a=%zz&+=%", "=&&=", "%5B=a&-=b"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, query string) {
		once := string(appendQuery(nil, query))
		if twice := string(appendQuery(nil, once)); twice != once {
			t.Errorf("%q is signed as %q, and that as %q", query, once, twice)
		}
	})
}
