package netguard_test

import (
	"testing"

	"sluice/internal/provider/netguard"
)

// A stored credential goes where the operator lists host and port. That an address may be
// dialled gives it none.
func TestStoredKeysGoToListedHostsAlone(t *testing.T) {
	t.Parallel()
	trusted := []string{"llm.corp", "127.0.0.1", "10.0.0.0/8", "*.wild.internal", "169.254.169.254", "metadata.google.internal"}
	g := netguard.New(trusted).WithKeyHosts([]string{
		"LLM.corp:8443", "10.1.2.3:9000", "[fd12::1]:80", "api.example.com:443", "169.254.169.254:80", "metadata.google.internal:80", "no-port", "", ":80", "*.wild.internal:443",
	})
	for raw, want := range map[string]bool{
		"https://llm.corp:8443/v1":               true,
		"http://LLM.CORP:8443":                   true,
		"https://llm.corp/v1":                    false,
		"https://llm.corp:8444/v1":               false,
		"https://x.llm.corp:8443/v1":             false,
		"http://127.0.0.1:9851/v1":               false,
		"http://10.1.2.3:9000":                   true,
		"http://10.1.2.3":                        false,
		"http://10.1.2.4:9000":                   false,
		"http://[::ffff:10.1.2.3]:9000":          true,
		"http://[fd12:0::1]":                     true,
		"http://[fd12::1]:81":                    false,
		"https://api.example.com/v1":             true,
		"http://api.example.com/v1":              false,
		"https://user@api.example.com/v1":        false,
		"https://api.example.com:443#x":          false,
		"http://169.254.169.254/":                false,
		"http://metadata.google.internal/":       false,
		"https://a.wild.internal/":               false,
		"http://no-port/":                        false,
		"ftp://api.example.com:443/":             false,
		"":                                       false,
		"api.example.com:443":                    false,
		"https://api.example.com:443.evil.test/": false,
	} {
		if got := g.TakesStoredKeys(raw); got != want {
			t.Errorf("%q: %v, want %v", raw, got, want)
		}
	}
	if netguard.New(trusted).TakesStoredKeys("http://127.0.0.1:9851/v1") {
		t.Error("a trusted host takes stored credentials")
	}
	if netguard.New(nil).WithKeyHosts([]string{"10.0.0.1:80"}).CheckURL("http://10.0.0.1/") == nil {
		t.Error("a host that takes stored credentials may be dialled although it is private and not trusted")
	}
}

func TestMayReceive_WhatWasSavedOrIsListed(t *testing.T) {
	t.Parallel()
	g := netguard.New(nil).WithKeyHosts([]string{"api.example.com:443"})
	saved := []string{"", "https://own.example.com/v1", "resource_name=ours"}
	for raw, want := range map[string]bool{
		"https://own.example.com/other": true,
		"https://OWN.example.com":       true,
		"http://own.example.com/v1":     false,
		"https://own.example.com:8443":  false,
		"https://api.example.com/v1":    true,
		"https://evil.example.com/v1":   false,
		"resource_name=ours":            false,
		"":                              false,
	} {
		if got := g.MayReceive(raw, saved...); got != want {
			t.Errorf("%q: %v, want %v", raw, got, want)
		}
	}
}
