package providerjob_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/domain/providerjob"
)

func TestBatchSource_TakesAllThatTheDescriptionNames(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]providerjob.Source{
		`{"input_file_id":"a","endpoint":"/v1/x"}`:                                                   {Files: []providerjob.File{{ID: "a", Weight: 1}}, Endpoint: "/v1/x"},
		`{"input_file_id":"a","in\u0070utFileId":"b","INPUT_FILE":"c"}`:                              {Files: []providerjob.File{{ID: "a", Weight: 1}, {ID: "b", Weight: 1}, {ID: "c", Weight: 1}}},
		`{"input_files":["a",{"file_id":"b"},null],"input_file":null}`:                               {Files: []providerjob.File{{ID: "a", Weight: 1}, {ID: "b", Weight: 1}}},
		`{"requests":[1],"batch":{"input_config":{"requests":{"requests":[2]}},"model":"models/m"}}`: {Lists: [][]byte{[]byte("[1]"), []byte("[2]")}, Models: []string{"m"}},
		`{"modelId":"arn:aws:bedrock:us-east-1::foundation-model/m","metadata":{"input_file_id":"x"},"outputDataConfig":{"s3OutputDataConfig":{"s3Uri":"s3://b/out/"}}}`: {Models: []string{"m"}},
	} {
		if got, err := providerjob.BatchSource([]byte(body)); err != nil || !cmp.Equal(*got, want) {
			t.Errorf("%s: %v %v", body, err, cmp.Diff(want, got))
		}
	}
}

func TestBatchSource_RefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for body, why := range map[string]string{
		`{"input_files":[` + strings.TrimSuffix(strings.Repeat(`"a",`, 65), ",") + `]}`: "more than 64",
		`{"input_file_id":{"name":"a"}}`:                                                "does not read",
		`{"input_file_id":7}`:                                                           "does not read",
		`{"requests":"file-1"}`:                                                         "does not read",
		`{"batch":{"inputConfig":{"requests":{"requests":{}}}}}`:                        "does not read",
		`{"input_file_id":"s3%3A%2F%2Fb%2F"}`:                                           "does not read",
		`{"input_file_id":"gs://b/*.jsonl"}`:                                            "does not read",
		`{"endpoint":"/v1/a","Endpoint":"/v1/b"}`:                                       "more than one endpoint",
	} {
		if got, err := providerjob.BatchSource([]byte(body)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
}

// A description of any bytes is read without a panic, and stays within its limits.
func FuzzSource(f *testing.F) {
	f.Add([]byte(`{"input_files":["a",{"file_id":"b","weight":2}],"batch":{"inputConfig":{"requests":{"requests":[{}]}}}}`))
	f.Add([]byte(`{"method":{"type":"dpo","dpo":{"hyperparameters":{"n_epochs":"auto"}}},"training_files":[null,""]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, read := range [...]func([]byte) (*providerjob.Source, error){providerjob.BatchSource, providerjob.TrainingSource} {
			if s, err := read(body); err == nil && len(s.Files) > 64 {
				t.Errorf("%d files", len(s.Files))
			}
		}
		if n, err := providerjob.Epochs(body, 25); err == nil && n < 1 {
			t.Errorf("%d epochs", n)
		}
		if v := providerjob.ReadVideo(body); v.Seconds < 1 || v.Videos < 1 || len(v.Sizes) == 0 {
			t.Errorf("%+v", v)
		}
	})
}
