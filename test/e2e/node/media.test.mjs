import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import { model, newClient, onlyUpstream, peer, sound } from './client.mjs'

const client = newClient()

describe('embeddings', () => {
  const input = ['the cat sat on the mat', 'a dog']

  it('come as floats, a vector a text', async () => {
    const one = await client.embeddings.create({ model: 'text-embedding-3-small', input, encoding_format: 'float' })
    const other = await client.embeddings.create({ model: 'text-embedding-3-small', input: ['a fish'], encoding_format: 'float' })
    assert.deepEqual(one.data.map(e => e.index), [0, 1])
    assert.ok(one.data[0].embedding.length > 4)
    assert.notDeepEqual(one.data[0].embedding, other.data[0].embedding)
  })

  it('come packed unless floats are asked for, and are the same', onlyUpstream, async () => {
    const floats = await client.embeddings.create({ model: 'text-embedding-3-small', input, encoding_format: 'float' })
    const packed = await client.embeddings.create({ model: 'text-embedding-3-small', input })
    for (const [i, e] of floats.data.entries()) {
      assert.deepEqual([...Float32Array.from(e.embedding)], [...Float32Array.from(packed.data[i].embedding)])
    }
    assert.notDeepEqual(floats.data[0].embedding, floats.data[1].embedding)
  })

  it('have the dimensions that were asked for', onlyUpstream, async () => {
    const e = await client.embeddings.create({ model: 'text-embedding-3-small', input: 'the cat', dimensions: 32 })
    assert.equal(e.data[0].embedding.length, 32)
    assert.equal(e.usage.prompt_tokens, 2)
  })
})

describe('audio', () => {
  it('is transcribed', async () => {
    const t = await client.audio.transcriptions.create({ file: await sound(), model: 'whisper-1', language: 'en' })
    assert.match(t.text, /^I heard hello\.wav/)
  })

  const marks = { text: /^I heard hello\.wav: 16044 bytes/, srt: /^1\n00:00:00,000 --> /, vtt: /^WEBVTT\n\n00:00:00\.000 --> /, json: /^I heard hello\.wav: 16044 bytes/, verbose_json: /^I heard hello\.wav: 16044 bytes/ }
  for (const [format, mark] of Object.entries(marks)) {
    it(`is transcribed as ${format}`, onlyUpstream, async () => {
      const t = await client.audio.transcriptions.create({ file: await sound(), model: 'whisper-1', response_format: format, prompt: 'a greeting', temperature: 0.2 })
      const text = typeof t === 'string' ? t : t.text
      assert.match(text, mark)
      assert.match(text.replace(/\s+/g, ' '), /a greeting/)
    })
  }

  it('is timed by words and segments', onlyUpstream, async () => {
    const t = await client.audio.transcriptions.create({ file: await sound(), model: 'whisper-1', response_format: 'verbose_json', timestamp_granularities: ['word', 'segment'] })
    assert.equal(t.language, 'en')
    assert.equal(Number(t.duration), 1)
    assert.ok(t.words.length > 3 && t.segments.length > 0)
    assert.equal(t.words[0].start, 0)
  })

  it('is transcribed as a stream', onlyUpstream, async () => {
    let text = '', done
    for await (const e of await client.audio.transcriptions.create({ file: await sound(), model: 'gpt-4o-transcribe', stream: true })) {
      if (e.type === 'transcript.text.delta') text += e.delta
      if (e.type === 'transcript.text.done') done = e
    }
    assert.equal(text, done.text)
    assert.ok(done.usage.total_tokens > 0)
  })

  it('is translated', onlyUpstream, async () => {
    const t = await client.audio.translations.create({ file: await sound(), model: 'whisper-1' })
    assert.match(t.text, /spoken in en/)
  })

  it('is spoken', async () => {
    const r = await client.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'Hello there' })
    const bytes = Buffer.from(await r.arrayBuffer())
    assert.ok(bytes.length > 10)
    if (peer === 'upstream') assert.equal(bytes.subarray(0, 4).toString(), 'RIFF')
  })

  it('is refused by the gateway when the file is a name', async () => {
    await assert.rejects(client.audio.transcriptions.create({ file: 'hello.wav', model: 'whisper-1' }), { status: 400 })
  })
})

describe('images', () => {
  it('are made', async () => {
    const r = await client.images.generate({ model: 'gpt-image-1', prompt: 'a red square', n: 1 })
    assert.ok(Buffer.from(r.data[0].b64_json, 'base64').length > 10)
  })

  it('are changed', onlyUpstream, async () => {
    const first = await client.images.generate({ model: 'gpt-image-1', prompt: 'a red square' })
    const file = new File([Buffer.from(first.data[0].b64_json, 'base64')], 'square.png', { type: 'image/png' })
    const r = await client.images.edit({ model: 'gpt-image-1', prompt: 'now a blue one', image: file })
    assert.equal(r.usage.input_tokens_details.image_tokens, 1)
  })

  it('are seen as they come to be', onlyUpstream, async () => {
    const asked = { model: 'gpt-image-1', prompt: 'a red square' }
    const whole = await client.images.generate(asked)
    const events = []
    for await (const e of await client.images.generate({ ...asked, stream: true, partial_images: 2 })) events.push(e)
    assert.deepEqual(events.map(e => e.type), ['image_generation.partial_image', 'image_generation.partial_image', 'image_generation.completed'])
    assert.equal(events[2].b64_json, whole.data[0].b64_json)
    assert.deepEqual(events[2].usage, whole.usage)
  })
})

describe('moderation', () => {
  it('flags what is harmful only', async () => {
    const flagged = await client.moderations.create({ model: 'omni-moderation-latest', input: 'attack at dawn' })
    const clean = await client.moderations.create({ model: 'omni-moderation-latest', input: 'a quiet evening' })
    assert.equal(flagged.results[0].flagged, true)
    assert.equal(flagged.results[0].categories.violence, true)
    assert.equal(clean.results[0].flagged, false)
  })
})

describe('models', () => {
  it('are listed', async () => {
    const ids = []
    for await (const m of client.models.list()) ids.push(m.id)
    assert.ok(ids.length > 0)
    assert.equal(new Set(ids).size, ids.length)
  })

  it('are shown one by one', onlyUpstream, async () => {
    assert.equal((await client.models.retrieve('demo-chat')).id, 'demo-chat')
  })

  it('of any name are taken', async () => {
    const a = await client.chat.completions.create({ model: `${model}-2026`, messages: [{ role: 'user', content: 'Hello' }] })
    assert.match(a.model, /2026/)
  })
})
