package mail_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/mail"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// Every letter says what it is given, safely.
func TestLetters(t *testing.T) {
	t.Parallel()
	l, err := mail.NewTemplateSet("", mail.Brand{Company: "Acme & Sons", Logo: "https://acme.example/logo.png", Support: "help@acme.example", Docs: "https://docs.acme.example"})
	if err != nil {
		t.Fatal(err)
	}
	if len(mail.Templates()) != 15 {
		t.Errorf("%d templates", len(mail.Templates()))
	}
	vars := map[string]string{}
	for _, name := range strings.Fields("organisationName inviterUserName inviterEmail userName apiKeyType apiKey apiKeyName creditThreshold creditLimit virtualKeyName entityType entityName entityKey domain transitionExpiresAt nextRotationAt") {
		vars[name] = "<b>" + name + "</b>\r\nBcc: eve@evil.example"
	}
	for _, name := range strings.Fields("inviteLink verificationLink entityUrl") {
		vars[name] = "https://gateway.example.com/" + name + "?a=1&b=2"
	}
	vars["verificationCode"] = "123456"
	for _, name := range mail.Templates() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			email, err := l.Write(name, vars)
			if err != nil {
				t.Fatal(err)
			}
			if email.Subject == "" || strings.ContainsAny(email.Subject, "\r\n") {
				t.Errorf("subject %q", email.Subject)
			}
			if strings.Contains(email.HTML, "<b>") || !strings.Contains(email.HTML, "Acme &amp; Sons") || !strings.Contains(email.HTML, "logo.png") {
				t.Errorf("%s", email.HTML)
			}
			if !strings.Contains(email.Text, "help@acme.example") || strings.Contains(email.Text+email.HTML, "<no value>") || strings.Contains(email.Text, "&lt;") {
				t.Errorf("%s", email.Text)
			}
			for _, secret := range []string{"inviteLink", "verificationLink"} {
				if has := strings.Contains(email.Text, vars[secret]); has != strings.Contains(email.HTML, secret+"?a=1&amp;b=2") {
					t.Errorf("only one of the two forms has the %s", secret)
				}
			}
		})
	}
	if _, err := l.Write("letter-of-nobody", nil); err == nil {
		t.Error("an unknown letter was written")
	}
}

func TestOwnTemplates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("user-invite.txt", "Subject: Come in\n\nHere: {{.inviteLink}}\n")
	put("README.md", "not a template")
	l, err := mail.NewTemplateSet(dir, mail.Brand{})
	if err != nil {
		t.Fatal(err)
	}
	email, err := l.Write("user-invite", map[string]string{"inviteLink": "https://x.example/1"})
	if err != nil || email.Subject != "Come in" || email.Text != "Here: https://x.example/1\n" || !strings.Contains(email.HTML, "has invited you") {
		t.Errorf("%+v, %v", email, err)
	}
	for name, content := range map[string]string{
		"user-invitation.txt": "Subject: a name that there is not\n", "user-invite.html": "{{.inviteLink", "apikey-rotated.txt": "no subject\n",
		"frame.html": strings.Repeat("x", 300_000),
	} {
		put(name, content)
		if _, err := mail.NewTemplateSet(dir, mail.Brand{}); err == nil || !strings.Contains(err.Error(), strings.TrimSuffix(name, ".html")) {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := mail.NewTemplateSet(filepath.Join(dir, "nowhere"), mail.Brand{}); err == nil || !strings.Contains(err.Error(), "EMAIL_TEMPLATES_PATH") {
		t.Errorf("%v", err)
	}
}

// A message is tried nine times, and never after its life.
func TestTries(t *testing.T) {
	t.Parallel()
	m, status, now := mail.Message{Sealed: []byte("x")}, mail.Pending, noon
	for tries := 1; status == mail.Pending; tries++ {
		if !m.Due(status, now, now) {
			t.Fatalf("not due at %v: %+v", now, m)
		}
		if status = m.StartDelivery(status, noon, now); status != mail.Sending || m.Tries != tries {
			t.Fatalf("%s %+v", status, m)
		}
		if status = m.DeliveryFailed("the server is away", false, now); status == mail.Pending {
			if m.Due(status, now, m.Next.Add(-time.Second)) {
				t.Error("tried again at once")
			}
			now = *m.Next
		}
	}
	if status != mail.Failed || m.Tries != 9 || m.Sealed != nil || now.Sub(noon) > mail.Life {
		t.Errorf("%s %+v after %s", status, m, now.Sub(noon))
	}
	old := mail.Message{}
	if old.StartDelivery(mail.Pending, noon, noon.Add(mail.Life+1)) != mail.Failed || old.Tries != 0 {
		t.Error("what is too old was tried")
	}
	refused := mail.Message{}
	if refused.DeliveryFailed("no such address", true, noon) != mail.Failed {
		t.Error("what was refused for good is tried again")
	}
}

// After a death in the middle of a try a message is sent once more, and not again.
func TestCut(t *testing.T) {
	t.Parallel()
	m := mail.Message{}
	status := m.StartDelivery(mail.Pending, noon, noon)
	if m.Due(status, noon, noon.Add(mail.Limit)) || !m.Due(status, noon, noon.Add(mail.Doubt)) {
		t.Error("a try is taken over when nobody can be at it any more")
	}
	if status = m.StartDelivery(status, noon, noon.Add(mail.Doubt)); status != mail.Sending {
		t.Error(status)
	}
	if status = m.StartDelivery(status, noon, noon.Add(2*mail.Doubt)); status != mail.Failed || m.Tries != 2 {
		t.Errorf("%s %+v", status, m)
	}
}

func TestShownHidesWhatOpens(t *testing.T) {
	t.Parallel()
	m := mail.Message{Template: "user-invite", Vars: map[string]string{"organisationName": "Acme"}, Sealed: []byte("x")}
	if got := m.Shown("***"); got["inviteLink"] != "***" || got["organisationName"] != "Acme" || len(got) != 2 {
		t.Errorf("%v", got)
	}
	old := mail.Message{Template: "user-invite", Vars: map[string]string{"inviteLink": "https://x.example"}}
	if got := old.Shown("***"); got["inviteLink"] != "***" || old.Vars["inviteLink"] == "***" {
		t.Errorf("%v", got)
	}
}

// Every letter says all that it is given, in both forms.
func TestLettersSayAll(t *testing.T) {
	t.Parallel()
	l, err := mail.NewTemplateSet("", mail.Brand{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range mail.Templates() {
		vars := map[string]string{}
		for _, v := range mail.Variables(name) {
			vars[v] = "https://" + v + ".example"
		}
		email, err := l.Write(name, vars)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range vars {
			if !strings.Contains(email.Text, v) || !strings.Contains(email.HTML, v) {
				t.Errorf("%s does not say %s", name, v)
			}
		}
	}
}
