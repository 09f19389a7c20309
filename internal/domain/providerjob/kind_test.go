package providerjob_test

import (
	"testing"

	"sluice/internal/domain/providerjob"
	"sluice/internal/kernel/llm"
)

func TestKindOf_NamesEveryCallThatBeginsAJob(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]providerjob.Kind{
		"/batch/jobs": providerjob.Batch, "/v1beta/models/gemini-2.5-flash:batchGenerateContent": providerjob.Batch, "/model-invocation-job": providerjob.Batch,
		"/projects/p/locations/l/batchPredictionJobs": providerjob.Batch, "/batches/": providerjob.Batch, "//batches": providerjob.Batch, "/b%61tches": providerjob.Batch, "/embed-jobs": providerjob.Batch,
		"/accounts/a/batchInferenceJobs": providerjob.Batch, "/batches/b1/requests": providerjob.Unknown, "/Batches": providerjob.Batch, "/Fine_Tuning/JOBS": providerjob.Finetune, "/v1beta/models/m:BatchGenerateContent": providerjob.Batch,
		"/fine-tunes": providerjob.Finetune, "/fine_tuning/jobs": providerjob.Finetune, "/accounts/a/supervisedFineTuningJobs": providerjob.Finetune, "/finetuning/finetuned-models": providerjob.Finetune,
		"/videos": providerjob.Video, "/videos/video_1/remix": providerjob.Video, "/videos/generations": providerjob.Video, "/video/generations/jobs": providerjob.Video, "/v1beta/models/veo-3:predictLongRunning": providerjob.Video, "/image_to_video": providerjob.Video,
		"/evals/e1/runs": providerjob.Eval, "/fine_tuning/alpha/graders/run": providerjob.Eval, "/async-invoke": providerjob.Unknown,
		"/chat/completions": "", "/batches/b1/cancel": "", "/fine_tuning/jobs/j1/cancel": "", "/evals": "", "/threads/t/runs": "", "/models/gemini:generateContent": "", "/models/m:batchEmbedContents": "", "/": "", "": "",
	} {
		if got := providerjob.KindOf(llm.Proxy, "POST", path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
		if got := providerjob.KindOf(llm.Proxy, "GET", path); got != "" {
			t.Errorf("reading %s is %q", path, got)
		}
	}
	if providerjob.KindOf(llm.CreateBatch, "POST", "/batches") != providerjob.Batch || providerjob.KindOf(llm.CreateFinetune, "POST", "/fine_tuning/jobs") != providerjob.Finetune || providerjob.KindOf(llm.ChatComplete, "POST", "/videos") != "" {
		t.Error("typed routes are known by their endpoint")
	}
}

func TestReadPath(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"/batch/jobs", "b1", "/batch/jobs/b1"},
		{"/videos", "video_1", "/videos/video_1"},
		{"/videos/video_0/remix", "video_1", "/videos/video_1"},
		{"/videos/generations", "v1", "/videos/v1"},
		{"/v1beta/models/gemini-2.5-flash:batchGenerateContent", "batches/b1", "/v1beta/batches/b1"},
		{"/v1/projects/p/locations/l/batchPredictionJobs", "projects/1/locations/l/batchPredictionJobs/2", "/v1/projects/1/locations/l/batchPredictionJobs/2"},
		{"/videos", "../keys", "/videos/..%2Fkeys"},
	} {
		if got := providerjob.ReadPath(c[0], c[1]); got != c[2] {
			t.Errorf("%s of %s is read at %s, want %s", c[1], c[0], got, c[2])
		}
	}
}
