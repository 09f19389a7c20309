package e2e

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"sluice/internal/storage/sqlstore/storetest"
)

// takeover is how soon another node does the work of one that died.
const takeover = 30 * time.Second

// postOffice is a mail server that keeps what it gets.
type postOffice struct {
	mu   sync.Mutex // guards mail
	mail []string
}

// NewSession begins a conversation.
func (p *postOffice) NewSession(*smtp.Conn) (smtp.Session, error) { return postman{p}, nil }

type postman struct{ to *postOffice }

func (postman) Mail(string, *smtp.MailOptions) error { return nil }
func (postman) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (postman) Reset()                               {}
func (postman) Logout() error                        { return nil }

func (p postman) Data(r io.Reader) error {
	b, err := io.ReadAll(r)
	p.to.mu.Lock()
	defer p.to.mu.Unlock()
	p.to.mail = append(p.to.mail, string(b))
	return err
}

// about counts the mails that hold a text.
func (p *postOffice) about(text string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, m := range p.mail {
		if strings.Contains(m, text) {
			n++
		}
	}
	return n
}

// openPost starts a mail server and returns the settings that lead to it.
func openPost(t *testing.T) (*postOffice, option) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &postOffice{}
	s := smtp.NewServer(p)
	var done sync.WaitGroup
	done.Go(func() { _ = s.Serve(l) })
	t.Cleanup(func() { _ = s.Close(); done.Wait() })
	return p, with("SMTP_MAIL=ON", "SMTP_HOST=127.0.0.1", fmt.Sprintf("SMTP_PORT=%d", l.Addr().(*net.TCPAddr).Port), "SMTP_TLS=NONE",
		"SMTP_FROM=Gateway <gateway@acme.example>", "EMAIL_COMPANY_NAME=Acme Models", "CONTROL_PLANE_URL=https://gateway.acme.example")
}

// One of two nodes sends the mails, each once; when it is killed the other one does.
func TestMailIsSentByOneNode(t *testing.T) {
	t.Parallel()
	post, mails := openPost(t)
	storage := withDatabase(storetest.Postgres(t))
	nodes := []*gateway{start(t, storage, mails, with("LOG_LEVEL=info"))}
	nodes = append(nodes, start(t, storage, mails, with("LOG_LEVEL=info")))
	invite := func(g *gateway, name string) {
		g.do(adminKey, "POST", "/v1/admin/users/invites", object{"email": name + "@acme.example", "role": "member"})
	}
	invite(nodes[1], "ada")
	eventually(t, takeover, "the mail of the first invitation arrives", func() bool { return post.about("To: <ada@acme.example>") == 1 })
	if post.about("https://gateway.acme.example/console/invite") != 1 || post.about("Acme Models") != 1 {
		t.Errorf("%s", post.mail)
	}

	sent := func(g *gateway) int64 {
		return g.call("GET", "/v1/outbox?status=sent", "", "x-gateway-api-key: "+adminKey).want(t, 200).get("total").Int()
	}
	eventually(t, takeover, "it is known to be sent", func() bool { return sent(nodes[0]) == 1 })

	leads := func(g *gateway) bool {
		return strings.Contains(g.call("GET", "/metrics", "").Body, "\nsluice_worker_leads 1\n")
	}
	if leads(nodes[0]) == leads(nodes[1]) {
		t.Fatal("not one node leads")
	}
	left := nodes[0]
	if leads(left) {
		left = nodes[1]
		nodes[0].child.kill()
	} else {
		nodes[1].child.kill()
	}
	invite(left, "bob")
	eventually(t, takeover, "the other node takes over", func() bool { return leads(left) })
	eventually(t, takeover, "the mail of the second invitation arrives", func() bool { return post.about("To: <bob@acme.example>") == 1 })
	eventually(t, takeover, "both are known to be sent", func() bool { return sent(left) == 2 })
	if n := post.about("To: <ada@acme.example>"); n != 1 {
		t.Errorf("the first mail arrived %d times", n)
	}
}

// Without a mail server nothing fails: the mail waits where administrators see it.
func TestMailWaitsWithoutServer(t *testing.T) {
	t.Parallel()
	g := start(t)
	link := g.do(adminKey, "POST", "/v1/admin/users/invites", object{"email": "ada@acme.example", "role": "member"}).get("invite_link").String()
	if link == "" {
		t.Error("the answer has no link")
	}
	out := g.call("GET", "/v1/outbox", "", "x-gateway-api-key: "+adminKey).want(t, 200)
	if out.get("data.0.status").String() != "pending" || out.get("data.0.vars.inviteLink").String() != "***" {
		t.Errorf("%s", out.Body)
	}
}
