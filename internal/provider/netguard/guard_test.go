package netguard_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/kernel/fault"
	"sluice/internal/provider/netguard"
)

func TestCheckURL(t *testing.T) {
	t.Parallel()
	const ok, bad, no = fault.Code(""), fault.InvalidRequest, fault.AddressRefused
	g := netguard.New([]string{"https://llm.corp:8443/v1", "*.wild.internal", "10.1.2.3", "[fd12::1]:80", "localhost", "metadata.google.internal", "169.254.169.254", "*", "", "10.7.1.1/16", "fd77::/32", "169.254.0.0/16"})
	cases := []struct {
		url  string
		want fault.Code
	}{
		{"https://api.openai.com/v1", ok},
		{"http://llm.example.com:8080/v1/@cf/meta?x=%2F", ok},
		{"https://8.8.8.8/v1", ok},
		{"https://[2606:4700::1111]:8443/v1", ok},
		{"https://a_b.example.com", ok},
		{"HTTPS://API.Example.COM", ok},

		{"", bad},
		{"api.example.com/v1", bad},
		{"//api.example.com/v1", bad},
		{"ftp://api.example.com/", bad},
		{"file:///etc/passwd", bad},
		{"https:api.example.com", bad},
		{"https://", bad},
		{"https://:443/", bad},
		{"https://user@api.example.com/", bad},
		{"https://user:pw@api.example.com/", bad},
		{"https://@api.example.com/", bad},
		{"https://api.example.com\\@evil.com/", bad},
		{"https://api.example.com/#x", bad},
		{"https://api.example.com/ x", bad},
		{"https://api.example.com/\r\nX: y", bad},
		{"https://api.example.com\t/", bad},
		{"https://\u0430pi.example.com/", bad},
		{"https://api%2eexample.com/", bad},
		{"https://xn--80ak6aa92e.com/", bad},
		{"https://api.example.com./", bad},
		{"https://api..example.com/", bad},
		{"https://" + strings.Repeat("a", 64) + ".com/", bad},
		{"https://" + strings.Repeat("abcdefgh.", 30) + "com/", bad},
		{"https://1.2.3.a.b.c.d.e.f.g.com/", bad},
		{"https://a.b.c.d.e.f.g.h.i.com/", ok},
		{"https://api.example.com:0/", bad},
		{"https://api.example.com:65536/", bad},
		{"https://api.example.com:/", bad},
		{"https://api.example.com:x/", bad},
		{"https://[fe80::1%25eth0]/", bad},
		{"https://[::1/", bad},
		{"https://api.example.com/" + strings.Repeat("x", 2048), bad},

		{"http://2130706433/", bad},
		{"http://0x7f000001/", bad},
		{"http://0x7f.0.0.1/", bad},
		{"http://0177.0.0.1/", bad},
		{"http://127.1/", bad},
		{"http://127.0.0.0x1/", bad},
		{"http://127.0.0.1.1/", bad},
		{"http://127.0.0.256/", bad},

		{"https://api.example.com:22/", no},
		{"https://8.8.8.8:6379/", no},
		{"http://127.0.0.1/", no},
		{"http://127.9.9.9/", no},
		{"http://0.0.0.0/", no},
		{"http://10.0.0.1/", no},
		{"http://100.64.0.1/", no},
		{"http://172.31.255.255/", no},
		{"http://192.168.1.1/", no},
		{"http://192.0.2.1/", no},
		{"http://198.18.0.1/", no},
		{"http://192.88.99.1/", no},
		{"http://224.0.0.1/", no},
		{"http://255.255.255.255/", no},
		{"http://[::]/", no},
		{"http://[::1]/", no},
		{"http://[::ffff:127.0.0.1]/", no},
		{"http://[::ffff:8.8.8.8]/", no},
		{"http://[::ffff:7f00:1]/", no},
		{"http://[::127.0.0.1]/", no},
		{"http://[64:ff9b::8.8.8.8]/", no},
		{"http://[64:ff9b:1::1]/", no},
		{"http://[2002:7f00:1::]/", no},
		{"http://[2001:0:1::1]/", no},
		{"http://[2001:db8::1]/", no},
		{"http://[fc00::1]/", no},
		{"http://[fe80::1]/", no},
		{"http://[fec0::1]/", no},
		{"http://[ff02::1]/", no},
		{"http://[4000::1]/", no},
		{"http://printer.local/", no},
		{"http://db.corp/", no},
		{"http://a.localhost/v1", ok}, // below a trusted name
		{"http://b.onion/", no},
		{"http://wild.internal/", no},

		{"http://localhost:11434/v1", ok},
		{"http://llm.corp/", ok},
		{"http://gpu7.llm.corp:9200/", ok},
		{"http://xllm.corp/", no},
		{"http://a.wild.internal/", ok},
		{"http://10.1.2.3:8000/", ok},
		{"http://10.1.2.4:8000/", no},
		{"http://[fd12::1]/", ok},
		{"http://10.7.255.4:8000/", ok}, // of a trusted range
		{"http://10.8.0.1/", no},
		{"http://[fd77::5]/", ok},
		{"http://[::ffff:10.7.1.1]/", no},

		// trust does not reach these
		{"http://169.254.169.254/latest/meta-data", no},
		{"http://169.254.170.2/", no},
		{"http://100.100.100.200/", no},
		{"http://168.63.129.16/", no},
		{"http://192.0.0.192/", no},
		{"http://[fd00:ec2::254]/", no},
		{"http://[::ffff:169.254.169.254]/", no},
		{"http://[64:ff9b::169.254.169.254]/", no},
		{"http://metadata/", no},
		{"http://metadata.google.internal/", no},
		{"http://METADATA.google.internal/", no},
		{"http://kubernetes.default.svc/", no},
		{"http://api.default.svc.cluster.local/", no},
		{"http://vault.service.consul/", no},
		{"http://10.0.0.1.nip.io/", no},
		{"http://localtest.me/", no},
	}
	for _, tc := range cases {
		err := g.CheckURL(tc.url)
		if tc.want == "" && err != nil || tc.want != "" && !fault.Has(err, tc.want) {
			t.Errorf("%q: %v, want %q", tc.url, err, tc.want)
		}
	}
}

// names is a resolver with a fixed list.
type names map[string][]string

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	as, ok := n[host]
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	out := make([]netip.Addr, len(as))
	for i, a := range as {
		out[i] = netip.MustParseAddr(a)
	}
	return out, nil
}

func TestResolve(t *testing.T) {
	t.Parallel()
	const refused = "refused"
	g := netguard.New([]string{"trusted.corp", "127.0.0.1"}).WithResolver(names{
		"public.example":    {"93.184.216.34", "2606:2800:220:1::1"},
		"mapped.example":    {"::ffff:93.184.216.34"},
		"nat64.example":     {"64:ff9b::5db8:d822"},
		"private.example":   {"10.0.0.7"},
		"loopback.example":  {"127.0.0.1"}, // the address is trusted, the name is not
		"mixed.example":     {"93.184.216.34", "192.168.0.1"},
		"hidden.example":    {"::ffff:10.0.0.7"},
		"nat64in.example":   {"64:ff9b::a00:7"},
		"zoned.example":     {"fe80::1%eth0"},
		"empty.example":     {},
		"trusted.corp":      {"10.0.0.7", "::1"},
		"sub.trusted.corp":  {"169.254.169.254"},
		"6to4.trusted.corp": {"2002:a9fe:a9fe::1"},
	})
	cases := map[string]string{
		"public.example":           "[93.184.216.34 2606:2800:220:1::1]",
		"Public.Example.":          "[93.184.216.34 2606:2800:220:1::1]",
		"mapped.example":           "[93.184.216.34]",
		"nat64.example":            "[64:ff9b::5db8:d822]",
		"private.example":          refused,
		"loopback.example":         refused,
		"mixed.example":            refused,
		"hidden.example":           refused,
		"nat64in.example":          refused,
		"zoned.example":            refused,
		"empty.example":            "no address",
		"unknown.example":          "no such host",
		"trusted.corp":             "[10.0.0.7 ::1]",
		"sub.trusted.corp":         refused,
		"6to4.trusted.corp":        refused,
		"metadata.google.internal": refused,
		"127.0.0.1":                "[127.0.0.1]",
		"127.0.0.2":                refused,
		"::ffff:127.0.0.1":         "[127.0.0.1]",
	}
	for host, want := range cases {
		addrs, err := g.Resolve(context.Background(), host)
		got := fmt.Sprint(addrs)
		switch {
		case fault.Has(err, fault.AddressRefused):
			got = refused
		case err != nil:
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s (%v), want %s", host, got, err, want)
		}
	}
}

// The text for the caller names no address of ours; the cause for the log does.
func TestRefusalKeepsTheAddressPrivate(t *testing.T) {
	t.Parallel()
	g := netguard.New(nil).WithResolver(names{"a.example": {"10.9.8.7"}})
	_, err := g.Resolve(context.Background(), "a.example")
	f := fault.From(err)
	if strings.Contains(string(f.Body(fault.Model)), "10.9.8.7") || !strings.Contains(f.Error(), "10.9.8.7") {
		t.Errorf("%s, %v", f.Body(fault.Model), f)
	}
}

// changing answers with another address each time it is asked.
type changing struct {
	answers []string
	lookups atomic.Int32
}

func (c *changing) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	n := int(c.lookups.Add(1)) - 1
	return []netip.Addr{netip.MustParseAddr(c.answers[min(n, len(c.answers)-1)])}, nil
}

// The address that was judged is the one that is dialled: a name that changes its
// mind between the two is not asked again.
// A refusal names the setting that opens a private address, and none where nothing does.
func TestRefusalNamesTheCure(t *testing.T) {
	t.Parallel()
	g := netguard.New(nil).WithResolver(names{"models.example": {"10.0.0.5"}, "cloud.example": {"169.254.169.254"}})
	for host, hasHint := range map[string]bool{
		"10.0.0.5": true, "127.0.0.1": true, "[::1]": true, "localhost": true, "169.254.169.254": false, "metadata.google.internal": false,
	} {
		if err := g.CheckURL("http://" + host + "/v1"); err == nil || strings.Contains(err.Error(), "TRUSTED_CUSTOM_HOSTS") != hasHint {
			t.Errorf("%s: %v", host, err)
		}
	}
	for host, hasHint := range map[string]bool{"models.example": true, "cloud.example": false} {
		if _, err := g.Resolve(t.Context(), host); err == nil || strings.Contains(err.Error(), "TRUSTED_CUSTOM_HOSTS") != hasHint {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestDialPinsTheJudgedAddress(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	r := &changing{answers: []string{"127.0.0.1", "169.254.169.254"}}
	g := netguard.New([]string{"rebind.example"}).WithResolver(r)
	c, err := g.Dial(context.Background(), "tcp", "rebind.example:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.RemoteAddr().String() != l.Addr().String() || r.lookups.Load() != 1 {
		t.Errorf("dialled %s after %d look-ups", c.RemoteAddr(), r.lookups.Load())
	}
	if _, err := g.Dial(context.Background(), "tcp", "rebind.example:"+port); !fault.Has(err, fault.AddressRefused) {
		t.Errorf("next look-up: %v", err)
	}
}

func TestDialTriesAllAddresses(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	g := netguard.New([]string{"many.example"}).WithResolver(names{
		"four.many.example": {"127.0.0.2", "127.0.0.1"},
		"six.many.example":  {"::1", "127.0.0.1"},
		"dead.many.example": {"::1", "127.0.0.2"},
	})
	for _, host := range []string{"four.many.example", "six.many.example"} {
		c, err := g.Dial(context.Background(), "tcp", host+":"+port)
		if err != nil {
			t.Errorf("%s: %v", host, err)
			continue
		}
		_ = c.Close()
	}
	var op *net.OpError
	if _, err := g.Dial(context.Background(), "tcp", "dead.many.example:"+port); !errors.As(err, &op) {
		t.Errorf("no address answers: %v", err)
	}
	if _, err := g.Dial(context.Background(), "tcp", "no-port.example"); err == nil {
		t.Error("an address without a port was dialled")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := g.Dial(ctx, "tcp", "six.many.example:"+port); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
}

// No address that the standard library calls private, loopback, link-local,
// multicast or unspecified passes, in whatever spelling.
func TestNoSpecialAddressPasses(t *testing.T) {
	t.Parallel()
	g := netguard.New(nil)
	rapid.Check(t, func(t *rapid.T) {
		var a netip.Addr
		if rapid.Bool().Draw(t, "v4") {
			a = netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "bytes")))
		} else {
			b := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "bytes")
			b[0] = rapid.SampledFrom([]byte{0, 0x20, 0xfc, 0xfd, 0xfe, 0xff}).Draw(t, "first")
			a = netip.AddrFrom16([16]byte(b))
		}
		special := a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified()
		if !special {
			return
		}
		for _, spelling := range []netip.Addr{a, netip.AddrFrom16(a.As16())} {
			if _, err := g.Resolve(context.Background(), spelling.String()); !fault.Has(err, fault.AddressRefused) {
				t.Fatalf("Resolve(%s): %v", spelling, err)
			}
			host := spelling.String()
			if spelling.Is6() {
				host = "[" + host + "]"
			}
			if err := g.CheckURL("http://" + host + "/"); !fault.Has(err, fault.AddressRefused) {
				t.Fatalf("CheckURL(%s): %v", host, err)
			}
		}
	})
}

// FuzzCheckURL looks for a URL that passes although its host is special or its
// form is not the plain one.
func FuzzCheckURL(f *testing.F) {
	for _, s := range []string{"https://api.openai.com/v1", "http://0x7f.1/", "http://[::ffff:10.0.0.1]/", "http://a@b", "http://a\\b", "http://1.1.1.1:80"} {
		f.Add(s)
	}
	g := netguard.New(nil)
	f.Fuzz(func(t *testing.T, raw string) {
		if g.CheckURL(raw) != nil {
			return
		}
		rest := raw[strings.Index(raw, "://")+3:]
		if i := strings.IndexAny(rest, "/?"); i >= 0 {
			rest = rest[:i]
		}
		if rest == "" || strings.ContainsAny(rest, "@\\%# \t\r\n") || len(raw) > 2048 {
			t.Fatalf("%q passes", raw)
		}
		if a, err := netip.ParseAddrPort(rest); err == nil && (a.Addr().IsPrivate() || a.Addr().IsLoopback() || a.Addr().Is4In6()) {
			t.Fatalf("%q passes", raw)
		}
	})
}
