package cohere_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"sluice/internal/dialect"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

func length(s string) string { return strconv.Itoa(len(s)) }

// avro writes Avro as its specification says.
type avro struct{ b []byte }

func (w *avro) long(n int64) *avro { w.b = binary.AppendVarint(w.b, n); return w }
func (w *avro) text(s string) *avro {
	w.long(int64(len(s)))
	w.b = append(w.b, s...)
	return w
}
func (w *avro) raw(b ...byte) *avro { w.b = append(w.b, b...); return w }
func (w *avro) double(f float64) *avro {
	w.b = binary.LittleEndian.AppendUint64(w.b, math.Float64bits(f))
	return w
}
func (w *avro) float(f float32) *avro {
	w.b = binary.LittleEndian.AppendUint32(w.b, math.Float32bits(f))
	return w
}

// container wraps blocks of rows, each of so many.
func container(schema, codec string, blocks ...block) []byte {
	sync := strings.Repeat("s", 16)
	w := &avro{b: []byte("Obj\x01")}
	w.long(-2).long(99).text("avro.schema").text(schema).text("avro.codec").text(codec).long(0).raw([]byte(sync)...)
	for _, bl := range blocks {
		data := bl.rows.b
		if codec == "deflate" {
			var compressed bytes.Buffer
			z, _ := flate.NewWriter(&compressed, 9)
			_, _ = z.Write(data)
			_ = z.Close()
			data = compressed.Bytes()
		}
		w.long(bl.n).text(string(data)).raw([]byte(sync)...)
	}
	return w.b
}

type block struct {
	n    int64
	rows *avro
}

const embedSchema = `{"type":"record","name":"embed","fields":[{"name":"text","type":"string"},{"name":"embedding","type":{"type":"array","items":"double"}},{"name":"custom_id","type":["null","string"]},{"name":"id","type":["null","string"]}]}`

func embedRow(w *avro, text, id string, vector ...float64) *avro {
	w.text(text).long(int64(len(vector)))
	for _, f := range vector {
		w.double(f)
	}
	w.long(0)
	if id == "" {
		w.long(0)
	} else {
		w.long(1).text(id)
	}
	return w.long(1).text("u-" + id)
}

// outputOf reads parts, as the dataset names them.
func outputOf(parts ...[]byte) (string, error) {
	incoming := &dialect.Incoming{Body: []byte(`{"status":"complete","output_dataset_id":"d"}`), More: [][]byte{[]byte(`{"dataset":{"dataset_parts":[{"url":"https://a"}]}}`)}}
	next, _, err := unified(llm.GetBatchOutput).(dialect.MultiStep).Follow(incoming)
	if err != nil {
		return "", err
	}
	out, err := io.ReadAll(next.File(iotest.OneByteReader(bytes.NewReader(bytes.Join(parts, nil)))))
	return string(out), err
}

func TestOutputOfABatch(t *testing.T) {
	t.Parallel()
	for _, codec := range []string{"null", "deflate"} {
		first := container(embedSchema, codec,
			block{2, embedRow(embedRow(&avro{}, "a", "1", 0.5, -1), "b", "2", math.NaN())}, block{1, embedRow(&avro{}, "c", "", 1e300)})
		second := container(embedSchema, codec)
		got, err := outputOf(first, second)
		want := `{"id":"u-1","custom_id":"1","response":{"status_code":200,"body":[0.5,-1]},"error":null}` + "\n" +
			`{"id":"u-2","custom_id":"2","response":{"status_code":200,"body":[null]},"error":null}` + "\n" +
			`{"id":"u-","custom_id":null,"response":{"status_code":200,"body":[1e+300]},"error":null}` + "\n"
		if err != nil || got != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", codec, err, got, want)
		}
	}
}

func TestEveryTypeOfAvro(t *testing.T) {
	t.Parallel()
	schema := `{"type":"record","name":"r","namespace":"n","fields":[{"name":"embeddings","type":{"type":"record","name":"by","fields":[
		{"name":"float","type":{"type":"array","items":"float"}},{"name":"int8","type":{"type":"array","items":{"type":"int"}}},
		{"name":"b","type":"boolean"},{"name":"e","type":{"type":"enum","name":"en","symbols":["x","y"]}},{"name":"fx","type":{"type":"fixed","name":"fi","size":2}},
		{"name":"m","type":{"type":"map","values":"long"}},{"name":"by","type":"bytes"},{"name":"again","type":["null","n.r"]},{"name":"e2","type":"en"}]}}]}`
	w := &avro{}
	w.long(1).float(0.1).long(-2).long(8).float(1).float(2).long(0) // an array in two runs, one with its size
	w.long(1).long(-128).long(0).raw(1).long(1).raw('h', 'i').long(1).text("k\"").long(7).long(0).text("hi").long(0).long(0)
	got, err := outputOf(container(schema, "null", block{1, w}))
	want := `{"response":{"status_code":200,"body":{"float":[0.1,1,2],"int8":[-128],"b":true,"e":"y","fx":"aGk=","m":{"k\"":7},"by":"aGk=","again":null,"e2":"x"}},"error":null}` + "\n"
	if err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

// bomb is a schema of which one value, without a byte of its own, is written as JSON of
// 2^n pieces.
func bomb(n int) string {
	inner := `"null"`
	for i := range n {
		name := "t" + strconv.Itoa(i)
		inner = `{"type":"record","name":"` + name + `","fields":[{"name":"a","type":` + inner + `},{"name":"b","type":` + map[bool]string{true: `"null"`, false: `"t` + strconv.Itoa(i-1) + `"`}[i == 0] + `}]}`
	}
	return `{"type":"record","name":"r","fields":[{"name":"n","type":"long"},{"name":"x","type":` + inner + `}]}`
}

func TestBrokenAvro(t *testing.T) {
	t.Parallel()
	good := container(embedSchema, "null", block{1, embedRow(&avro{}, "a", "1", 0.5)})
	cases := map[string][]byte{
		"nothing":            nil,
		"another file":       []byte("PK\x03\x04"),
		"a strange codec":    container(embedSchema, "snappy", block{1, &avro{}}),
		"a broken schema":    container(`{"type":`, "null"),
		"an unknown type":    container(`{"type":"record","name":"r","fields":[{"name":"a","type":"what"}]}`, "null"),
		"no rows":            container(`"string"`, "null"),
		"a row too many":     container(embedSchema, "null", block{2, embedRow(&avro{}, "a", "1", 0.5)}),
		"a row too few":      container(embedSchema, "null", block{1, embedRow(embedRow(&avro{}, "a", "1"), "b", "2")}),
		"an unpackable":      append(container(embedSchema, "deflate"), []byte("\x02\x04xxssssssssssssssss")...),
		"rows of nothing":    container(`{"type":"record","name":"r","fields":[]}`, "null", block{1, (&avro{}).raw(0)}),
		"a bomb of types":    container(bomb(30), "null", block{1, (&avro{}).long(1)}),
		"an endless type":    container(`{"type":"record","name":"r","fields":[{"name":"a","type":"r"}]}`, "null", block{1, (&avro{}).raw(0)}),
		"a count of nothing": container(`{"type":"record","name":"r","fields":[{"name":"a","type":{"type":"array","items":"null"}}]}`, "null", block{1, (&avro{}).long(1 << 40)}),
	}
	for i := range good {
		if i > len(good)-16 || i == len(good)-len("x")-16 {
			cases["cut at "+strconv.Itoa(i)] = good[:i]
		}
	}
	for name, file := range cases {
		if got, err := outputOf(file); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%s: %v, %.80s", name, err, got)
		}
	}
}

func FuzzOutput(f *testing.F) {
	f.Add(container(embedSchema, "null", block{1, embedRow(&avro{}, "a", "1", 0.5)}))
	f.Add(container(embedSchema, "deflate", block{2, embedRow(embedRow(&avro{}, "a", "1", 0.5), "b", "2")}))
	f.Add(container(bomb(4), "null", block{1, (&avro{}).long(1)}))
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := outputOf(file)
		if err != nil {
			return
		}
		for line := range strings.Lines(got) {
			if !json.Valid([]byte(line)) {
				t.Fatalf("no JSON: %q", line)
			}
		}
	})
}

func TestFollow(t *testing.T) {
	t.Parallel()
	f := unified(llm.GetBatchOutput).(dialect.MultiStep)
	incoming := &dialect.Incoming{Body: []byte(`{"job_id":"j","status":"complete","output_dataset_id":"d2"}`)}
	steps := []struct {
		want dialect.Next
		then string
	}{
		{dialect.Next{Endpoint: llm.RetrieveFile, ID: "d2"}, `{"dataset":{"id":"d2","dataset_parts":[{"url":"https://a"},{"url":"https://b"},{"url":"https://c"}]}}`},
		{dialect.Next{URL: "https://a", Further: []string{"https://b", "https://c"}}, "A"},
	}
	for _, s := range steps {
		got, ok, err := f.Follow(incoming)
		if got.Endpoint != s.want.Endpoint || got.ID != s.want.ID || got.URL != s.want.URL || !slices.Equal(got.Further, s.want.Further) || !ok || err != nil {
			t.Fatalf("%+v, %v, %v; want %+v", got, ok, err, s.want)
		}
		incoming.More = append(incoming.More, []byte(s.then))
	}
	incoming.More[0] = []byte(`{"dataset":{"dataset_parts":[]}}`)
	if got, ok, err := f.Follow(incoming); ok || err != nil {
		t.Errorf("of no parts: %+v, %v", got, err)
	}
	if a, err := f.TranslateResponse(incoming); err != nil || len(a.Body) != 0 || a.ContentType != "application/jsonl" {
		t.Errorf("of no parts: %+v, %v", a, err)
	}
	if _, _, err := f.Follow(&dialect.Incoming{Body: []byte(`{"job_id":"j","status":"processing"}`)}); !fault.Has(err, fault.Conflict) {
		t.Errorf("a job that runs: %v", err)
	}
	if _, _, err := f.Follow(&dialect.Incoming{Body: incoming.Body, More: [][]byte{[]byte(`{"dataset":{"dataset_parts":[{}]}}`)}}); !fault.Has(err, fault.UpstreamInvalid) {
		t.Errorf("a part without a URL: %v", err)
	}
}
