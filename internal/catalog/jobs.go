package catalog

// The names that price lists and bills have for what jobs of providers use.
// Source: contract/content-and-observability.yaml, PricingConfig.finetune_config;
// https://developers.openai.com/api/docs/pricing (videos by the second), read 2026-11.
const (
	// VideoSeconds are seconds of video. A size may have a price of its own, such as
	// "video_duration_seconds_1792_1024"; any other size costs this.
	VideoSeconds = "video_seconds"
	videoAt      = "video_duration_seconds_"
	// TrainingTokens are tokens of a training file times epochs (finetune_config.pay_per_token).
	TrainingTokens = "training_tokens"
	// TrainingSeconds are seconds of training (finetune_config.pay_per_hour).
	TrainingSeconds = "training_seconds"
)

// hourSeconds are the seconds of the hour that is the unit of training.
const hourSeconds = 3600

// training adds the prices of fine-tuning to the additional units.
func (b *builder) training(units map[string]*rate) {
	if b.tuned == nil {
		return
	}
	if r := b.make("finetune_config.pay_per_token", b.tuned.PerToken, 10, multiplierOne); r != nil {
		units[TrainingTokens] = r
	}
	if r := b.make("finetune_config.pay_per_hour", b.tuned.PerHour, 10, multiplierOne); r != nil {
		r.per = hourSeconds
		units[TrainingSeconds] = r
	}
}
