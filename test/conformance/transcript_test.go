package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// dir is where the transcripts lie, next to the specs they prove.
const dir = "../../internal/provider/specs/testdata"

// transcript is one file: what is said on both sides of the gateway.
type transcript struct {
	path     string // "groq/chatComplete-stream.txtar"
	provider string // "groq"
	endpoint string // "chatComplete"
	special  string // "stream", "error", "tools" or what else the file's name says; may be empty
	comment  []byte

	request   message
	exchanges []exchange // with the provider, most have one
	response  message
	usage     string // llm.Usage as JSON
	frames    string // of a realtime client
	outcome   string // on record, where the statuses do not tell it: "truncated"
}

// name is the file's, for example "chatComplete-stream".
func (tr *transcript) name() string { return strings.TrimSuffix(filepath.Base(tr.path), ".txtar") }

// exchange is one call of the provider.
type exchange struct{ request, response message }

// transcripts reads all files, by provider.
func transcripts(t testing.TB) map[string][]*transcript {
	t.Helper()
	paths, err := filepath.Glob(dir + "/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]*transcript{}
	for _, p := range paths {
		tr, err := readTranscript(p)
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		all[tr.provider] = append(all[tr.provider], tr)
	}
	return all
}

func readTranscript(path string) (*transcript, error) {
	a, err := txtar.ParseFile(path)
	if err != nil {
		return nil, err
	}
	tr := &transcript{path: strings.TrimPrefix(path, dir+"/"), comment: a.Comment}
	tr.provider = filepath.Base(filepath.Dir(path))
	tr.endpoint, tr.special, _ = strings.Cut(tr.name(), "-")
	return tr, tr.fill(a)
}

func (tr *transcript) fill(a *txtar.Archive) error {
	for _, f := range a.Files {
		switch f.Name {
		case "usage":
			tr.usage = strings.TrimSpace(string(f.Data))
			continue
		case "outcome":
			tr.outcome = strings.TrimSpace(string(f.Data))
			continue
		case "frames":
			tr.frames = string(f.Data)
			continue
		}
		m, err := parseMessage(string(f.Data))
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		switch n := exchangeNumber(f.Name); {
		case f.Name == "request":
			tr.request = m
		case f.Name == "reply":
			tr.response = m
		case n > 0:
			for len(tr.exchanges) < n {
				tr.exchanges = append(tr.exchanges, exchange{})
			}
			if strings.HasPrefix(f.Name, "upstream-request") {
				tr.exchanges[n-1].request = m
			} else {
				tr.exchanges[n-1].response = m
			}
		default:
			return fmt.Errorf("%s is no section of a transcript", f.Name)
		}
	}
	if tr.request.first == "" || len(tr.exchanges) == 0 {
		return fmt.Errorf("it needs a request and an upstream-reply")
	}
	return nil
}

// exchangeNumber is 2 for "upstream-reply-2", 0 for what is no part of an exchange.
func exchangeNumber(section string) int {
	rest, ok := strings.CutPrefix(section, "upstream-re")
	if !ok {
		return 0
	}
	switch strings.TrimLeft(rest, "questply") {
	case "":
		return 1
	case "-2":
		return 2
	case "-3":
		return 3
	case "-4":
		return 4
	}
	return 0
}

// write puts the transcript back into its file.
func (tr *transcript) write() error {
	a := &txtar.Archive{Comment: tr.comment}
	add := func(name, data string) { a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(data)}) }
	add("request", tr.request.String())
	if tr.frames != "" {
		add("frames", tr.frames)
	}
	for i, x := range tr.exchanges {
		number := ""
		if i > 0 {
			number = fmt.Sprintf("-%d", i+1)
		}
		add("upstream-request"+number, x.request.String())
		add("upstream-reply"+number, x.response.String())
	}
	add("reply", tr.response.String())
	add("usage", tr.usage+"\n")
	if tr.outcome != "" {
		add("outcome", tr.outcome+"\n")
	}
	path := filepath.Join(dir, tr.path)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return os.WriteFile(path, txtar.Format(a), 0o600)
}
