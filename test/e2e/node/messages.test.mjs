import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import Anthropic from '@anthropic-ai/sdk'
import { base, key, model, only, peer, provider } from './client.mjs'

// Anthropic's stock client: it sends the gateway key as x-api-key. Behind the gateway is
// a provider of any shape.
const newClient = (options = {}) => new Anthropic({
  baseURL: base.replace(/\/v1$/, ''), apiKey: key, maxRetries: 0, timeout: 20_000, ...options,
  defaultHeaders: { 'x-gateway-provider': provider, ...options.defaultHeaders },
})
const client = newClient()
const ask = (content, extra = {}) => ({ model, max_tokens: 4096, messages: [{ role: 'user', content }], ...extra })
const tools = ['get_weather', 'get_time'].map(name => ({
  name, description: `${name} of a city`, input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}))
const uses = message => message.content.filter(b => b.type === 'tool_use')
const said = message => message.content.filter(b => b.type === 'text').map(b => b.text).join('')

// both asks whole and streamed; the client's accumulator must come to the same.
async function both(question) {
  const whole = await client.messages.create(question)
  const streamed = await client.messages.stream(question).finalMessage()
  assert.equal(streamed.stop_reason, whole.stop_reason)
  assert.equal(said(streamed), said(whole))
  assert.deepEqual(streamed.content.map(b => b.type), whole.content.map(b => b.type))
  return [whole, streamed]
}

describe('messages', () => {
  it('answer whole and streamed, with usage', async () => {
    for (const m of await both(ask('Hello there', { system: 'Be brief.' }))) {
      assert.equal(m.type, 'message')
      assert.equal(m.role, 'assistant')
      assert.match(said(m), /^You said: "Hello there"/)
      assert.equal(m.stop_reason, 'end_turn')
      assert.ok(m.id && m.usage.input_tokens > 0 && m.usage.output_tokens > 0, JSON.stringify(m))
    }
  })

  it('come in events as the client wants them', async () => {
    const seen = [], texts = []
    const stream = client.messages.stream(ask('Tell me a story of two words'))
    stream.on('streamEvent', e => seen.push(e.type))
    stream.on('text', t => texts.push(t))
    const final = await stream.finalMessage()
    assert.equal(texts.join(''), said(final))
    assert.ok(texts.length > 2, `${texts.length} pieces`)
    assert.equal(seen[0], 'message_start')
    assert.deepEqual(seen.slice(-2), ['message_delta', 'message_stop'])
    for (const type of ['message_start', 'message_delta', 'message_stop']) assert.equal(seen.filter(s => s === type).length, 1, type)
  })

  it('call tools in parallel over two turns', async () => {
    const question = ask('Please use get_weather and get_time for Paris', { tools })
    for (const first of [await client.messages.create(question), await client.messages.stream(question).finalMessage()]) {
      assert.equal(first.stop_reason, 'tool_use')
      assert.deepEqual(uses(first).map(u => u.name), ['get_weather', 'get_time'])
      for (const u of uses(first)) assert.match(u.input.city, /Paris/)
      const second = await client.messages.create(ask(undefined, {
        tools,
        messages: [
          ...question.messages,
          { role: 'assistant', content: first.content },
          { role: 'user', content: uses(first).map(u => ({ type: 'tool_result', tool_use_id: u.id, content: `${u.name} is fine` })) },
        ],
      }))
      assert.match(said(second), /^The tool said: get_time is fine/)
    }
  })

  // The runner would leave the conversation with Anthropic and send the last turn alone. Told
  // that nobody keeps it, it sends all of it.
  it('run tools until there is an answer', only('upstream', 'gemini'), async () => {
    const seen = []
    const runnable = tools.map(tool => ({ ...tool, type: 'custom', parse: input => input, run: input => { seen.push([tool.name, input.city]); return `${tool.name} is fine` } }))
    const ask = extra => client.beta.messages.toolRunner({ model, max_tokens: 4096, messages: [{ role: 'user', content: 'Please use get_weather and get_time for Paris' }], tools: runnable, ...extra })
    assert.match(said(await ask()), /^The tool said: get_time is fine/)
    let streamed
    for await (const stream of ask({ stream: true })) streamed = await stream.finalMessage()
    assert.match(said(streamed), /^The tool said: get_time is fine/)
    assert.deepEqual(seen.map(([name]) => name), ['get_weather', 'get_time', 'get_weather', 'get_time'])
    for (const [, city] of seen) assert.match(city, /Paris/)
  })

  // Blocks of tool_use have no place for the signatures that Gemini puts on calls: they
  // travel in the ids.
  it('think, and remember what they thought', only('anthropic', 'gemini'), async () => {
    const thinking = { type: 'enabled', budget_tokens: 2048 }
    for (const first of await both(ask('Please use get_weather for Paris', { tools, thinking }))) {
      assert.match(first.content[0].thinking, /^The user says: Please use get_weather/)
      const second = await client.messages.create(ask(undefined, {
        tools, thinking,
        messages: [
          { role: 'user', content: 'Please use get_weather for Paris' },
          { role: 'assistant', content: first.content },
          { role: 'user', content: uses(first).map(u => ({ type: 'tool_result', tool_use_id: u.id, content: 'it rains' })) },
        ],
      }))
      assert.match(said(second), /^The tool said: it rains\. I remember my thoughts\.$/)
    }
  })

  it('show images', only('anthropic', 'gemini'), async () => {
    const data = Buffer.from('not really a picture').toString('base64')
    const content = [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }, { type: 'text', text: 'What is it?' }]
    for (const m of await both(ask(content))) assert.equal(said(m), 'You said: "What is it?" and showed image/png of 20 bytes.')
  })

  it('keep to a JSON schema', only('anthropic', 'gemini', 'upstream'), async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' }, rainy: { type: 'boolean' } }, required: ['city', 'rainy'], additionalProperties: false }
    for (const m of await both(ask('Paris in May', { output_config: { format: { type: 'json_schema', schema } } }))) {
      assert.deepEqual(JSON.parse(said(m)), { city: 'Paris in May', rainy: true })
    }
  })

  it('are counted before they are sent', only('anthropic'), async () => {
    const { input_tokens } = await client.messages.countTokens({ model, messages: [{ role: 'user', content: 'one two three' }] })
    assert.equal(input_tokens, 3)
  })

  it('that break off are thrown, not cut short', only('upstream'), async () => {
    for (const fault of ['cut-stream@3', 'error-mid@3', 'end-early@3']) {
      const stream = client.messages.stream({ ...ask('Hello there'), model: `fault:${fault}` })
      let pieces = 0
      stream.on('text', () => { pieces++ })
      await assert.rejects(stream.finalMessage(), Anthropic.APIError, fault)
      assert.ok(pieces > 0, fault)
    }
  })

  it('are refused with the class that the status means', async () => {
    for (const [status, kind] of [[400, Anthropic.BadRequestError], [404, Anthropic.NotFoundError], [429, Anthropic.RateLimitError], [500, Anthropic.InternalServerError]]) {
      const err = await client.messages.create({ ...ask('Hello'), model: `fault:status@${status}` }).then(() => assert.fail('it was answered'), e => e)
      assert.ok(err instanceof kind, `${err.constructor.name}: ${err.message}`)
      assert.equal(err.error.type, 'error')
      assert.ok(err.error.error.type && err.error.error.message)
    }
    const stranger = newClient({ apiKey: 'sk-nobody-has-this-key-0000000000' })
    await assert.rejects(stranger.messages.create(ask('Hello')), Anthropic.AuthenticationError)
  })
})
