import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import { model, newClient, only, onlyUpstream, provider } from './client.mjs'

const client = newClient()
const ask = content => ({ model, messages: [{ role: 'user', content }] })
const tools = ['get_weather', 'get_time'].map(name => ({
  type: 'function',
  function: { name, description: `${name} of a city`, parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
}))

describe('chat', () => {
  it('answers whole, with usage and the ids of the gateway', async () => {
    const { data, response } = await client.chat.completions.create(ask('Hello there')).withResponse()
    assert.match(data.choices[0].message.content, /^You said: "Hello there"/)
    assert.equal(data.choices[0].finish_reason, 'stop')
    assert.equal(data.usage.prompt_tokens, 2)
    assert.equal(data.usage.total_tokens, data.usage.prompt_tokens + data.usage.completion_tokens)
    assert.ok(response.headers.get('x-gateway-request-id'))
    assert.ok(response.headers.get('x-gateway-trace-id'))
  })

  it('takes the saved provider from the model', async () => {
    const plain = newClient({ defaultHeaders: { 'x-gateway-provider': null } })
    const a = await plain.chat.completions.create({ ...ask('Hello there'), model: `${provider}/${model}` })
    assert.match(a.choices[0].message.content, /^You said: "Hello there"/)
  })

  it('streams what it would have answered whole', async () => {
    const whole = await client.chat.completions.create(ask('Tell me a story of two words'))
    const stream = client.chat.completions.stream({ ...ask('Tell me a story of two words'), stream_options: { include_usage: true } })
    let text = ''
    stream.on('content', delta => { text += delta })
    const final = await stream.finalChatCompletion()
    assert.equal(final.choices[0].message.content, whole.choices[0].message.content)
    assert.equal(text, whole.choices[0].message.content)
    assert.equal(final.choices[0].finish_reason, 'stop')
    assert.deepEqual(await stream.totalUsage(), { completion_tokens: whole.usage.completion_tokens, prompt_tokens: whole.usage.prompt_tokens, total_tokens: whole.usage.total_tokens })
  })

  it('shows no usage in a stream that did not ask for it', async () => {
    let chunks = 0
    for await (const chunk of await client.chat.completions.create({ ...ask('Hello there'), stream: true })) {
      chunks++
      assert.ok(!chunk.usage, `usage in ${JSON.stringify(chunk)}`)
      assert.equal(chunk.choices.length, 1, `no choice in ${JSON.stringify(chunk)}`)
    }
    assert.ok(chunks > 2)
  })

  it('calls tools in parallel, and takes their results', async () => {
    const seen = []
    const runner = client.chat.completions.runTools({
      ...ask('Please use get_weather and get_time for Paris'),
      tools: tools.map(t => ({ type: 'function', function: { ...t.function, parse: JSON.parse, function: args => { seen.push([t.function.name, args.city]); return `${t.function.name} is fine` } } })),
    })
    const final = await runner.finalContent()
    assert.deepEqual(seen.map(([name]) => name).sort(), ['get_time', 'get_weather'])
    assert.ok(seen.every(([, city]) => city.includes('Paris')))
    assert.match(final, /^The tool said: get_/)
  })

  it('streams the calls of tools', async () => {
    const stream = client.chat.completions.stream({ ...ask('Please use get_weather and get_time for Paris'), tools, parallel_tool_calls: true })
    const { choices: [choice] } = await stream.finalChatCompletion()
    assert.equal(choice.finish_reason, 'tool_calls')
    assert.deepEqual(choice.message.tool_calls.map(c => c.function.name), ['get_weather', 'get_time'])
    assert.equal(new Set(choice.message.tool_calls.map(c => c.id)).size, 2)
    for (const call of choice.message.tool_calls) assert.match(JSON.parse(call.function.arguments).city, /Paris/)
  })

  it('remembers thoughts from turn to turn', only('anthropic', 'gemini'), async () => {
    const lenient = newClient({ defaultHeaders: { 'x-gateway-strict-open-ai-compliance': 'false' } })
    const question = { ...ask('Please use get_weather for Paris'), max_completion_tokens: 4096, tools, thinking: { type: 'enabled', budget_tokens: 2048 } }
    const whole = await lenient.chat.completions.create(question)
    const { message } = whole.choices[0]
    assert.ok(message.content_blocks.some(b => b.type === 'thinking' && b.thinking.startsWith('The user says')), JSON.stringify(message))
    const next = await lenient.chat.completions.create({ ...question, messages: [...question.messages, message, { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'it rains' }] })
    assert.equal(next.choices[0].message.content, 'The tool said: it rains. I remember my thoughts.')
  })

  it('sees images', only('anthropic', 'gemini'), async () => {
    const url = `data:image/png;base64,${Buffer.from('not really a picture').toString('base64')}`
    const content = [{ type: 'text', text: 'What is it?' }, { type: 'image_url', image_url: { url } }]
    const a = await client.chat.completions.create(ask(content))
    assert.equal(a.choices[0].message.content, 'You said: "What is it?" and showed image/png of 20 bytes.')
  })

  it('keeps to a JSON schema', only('upstream', 'anthropic', 'gemini', 'aimock'), async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' }, rainy: { type: 'boolean' } }, required: ['city', 'rainy'], additionalProperties: false }
    const a = await client.chat.completions.create({ ...ask('Paris in May'), response_format: { type: 'json_schema', json_schema: { name: 'weather', strict: true, schema } } })
    assert.deepEqual(JSON.parse(a.choices[0].message.content), { city: 'Paris in May', rainy: true })
  })

  it('keeps text that is not ASCII, whole and streamed', async () => {
    const said = 'Grüße, 世界 🌍 "quoted" \\ back'
    const whole = await client.chat.completions.create(ask(said))
    const streamed = await client.chat.completions.stream(ask(said)).finalContent()
    assert.equal(streamed, whole.choices[0].message.content)
    assert.match(whole.choices[0].message.content, /Grüße, 世界 🌍/)
  })

  it('ends when the caller stops reading', async () => {
    const stream = await client.chat.completions.create({ ...ask('word '.repeat(60)), stream: true })
    for await (const chunk of stream) {
      assert.ok(chunk.id)
      break
    }
    assert.ok(stream.controller.signal.aborted)
  })

  it('completes the older way', onlyUpstream, async () => {
    const whole = await client.completions.create({ model, prompt: 'Once upon a time' })
    let text = ''
    for await (const c of await client.completions.create({ model, prompt: 'Once upon a time', stream: true })) text += c.choices[0]?.text ?? ''
    assert.equal(text, whole.choices[0].text)
    assert.equal(whole.usage.prompt_tokens, 4)
  })
})

describe('responses', () => {
  it('answers whole, with usage', async () => {
    const r = await client.responses.create({ model, input: 'Hello there' })
    assert.equal(r.status, 'completed')
    assert.match(r.output_text, /^You said: "Hello there"/)
    assert.equal(r.usage.total_tokens, r.usage.input_tokens + r.usage.output_tokens)
  })

  it('streams what it would have answered whole', async () => {
    const whole = await client.responses.create({ model, input: 'Hello there', store: false })
    const stream = client.responses.stream({ model, input: 'Hello there', store: false })
    let text = ''
    stream.on('response.output_text.delta', e => { text += e.delta })
    const final = await stream.finalResponse()
    assert.equal(text, whole.output_text)
    assert.equal(final.output_text, whole.output_text)
    assert.deepEqual(final.usage.total_tokens, whole.usage.total_tokens)
  })

  it('calls a tool', async () => {
    const flat = { type: 'function', strict: true, name: 'get_weather', parameters: tools[0].function.parameters }
    const r = await client.responses.create({ model, input: 'Please use get_weather for Paris', tools: [flat] })
    const call = r.output.find(o => o.type === 'function_call')
    assert.equal(call.name, 'get_weather')
    assert.match(JSON.parse(call.arguments).city, /Paris/)
  })

  it('streams the call of a tool, and takes its result', async () => {
    const flat = { type: 'function', strict: true, name: 'get_weather', parameters: tools[0].function.parameters }
    const question = { model, input: [{ role: 'user', content: 'Please use get_weather for Paris' }], tools: [flat], store: false }
    const first = await client.responses.stream(question).finalResponse()
    const call = first.output.find(o => o.type === 'function_call')
    assert.match(JSON.parse(call.arguments).city, /Paris/)
    const second = await client.responses.create({ ...question, input: [...question.input, call, { type: 'function_call_output', call_id: call.call_id, output: 'it rains' }] })
    assert.match(second.output_text, /^The tool said: it rains/)
  })

  it('keeps to a JSON schema', only('upstream', 'anthropic', 'gemini'), async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' }, rainy: { type: 'boolean' } }, required: ['city', 'rainy'], additionalProperties: false }
    const r = await client.responses.create({ model, input: 'Paris in May', text: { format: { type: 'json_schema', name: 'weather', strict: true, schema } } })
    assert.deepEqual(JSON.parse(r.output_text), { city: 'Paris in May', rainy: true })
  })

  it('keeps, shows and deletes what it answered', only('upstream', 'anthropic', 'gemini'), async () => {
    const r = await client.responses.create({ model, input: 'Hello there' })
    assert.equal((await client.responses.retrieve(r.id)).output_text, r.output_text)
    const items = []
    for await (const item of client.responses.inputItems.list(r.id)) items.push(item)
    assert.equal(items[0].content[0].text, 'Hello there')
    const next = await client.responses.create({ model, input: 'And now?', previous_response_id: r.id })
    assert.equal(next.previous_response_id, r.id)
    await client.responses.delete(r.id)
    await assert.rejects(client.responses.retrieve(r.id), { status: 404 })
  })
})
