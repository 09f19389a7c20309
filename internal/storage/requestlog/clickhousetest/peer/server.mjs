// A ClickHouse engine (chDB) behind so much of a server's HTTP interface as tests need:
//
//   node server.mjs [DIRECTORY [PORT]]
//
// It prints "listening on PORT" and ends with its standard input. Without a directory its
// data goes with it. PEER_USER and
// PEER_PASSWORD are who may ask. One process has one directory; queries run one at a time.
import { createServer } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Session } from 'chdb';

const [directory, port] = process.argv.slice(2);
const user = process.env.PEER_USER ?? 'default';
const password = process.env.PEER_PASSWORD ?? '';
const maxBody = 256 << 20;
const scratch = mkdtempSync(join(tmpdir(), 'clickhouse-peer-'));
// As many workers as a server has: with the engine's two, a deletion waits for seconds.
const session = new Session(directory || join(scratch, 'data'), { connectionArgs: ['--background_pool_size=16', '--background_schedule_pool_size=16'] });

// What the interface takes itself; other parameters are settings of the query.
const reserved = new Set(['query', 'database', 'user', 'password', 'query_id', 'wait_end_of_query', 'buffer_size', 'enable_http_compression', 'default_format',
  'cancel_http_readonly_queries_on_client_close']);

const quote = (s) => "'" + s.replaceAll('\\', '\\\\').replaceAll("'", "\\'") + "'";
const name = (s) => {
  if (!/^[A-Za-z0-9_]+$/.test(s)) throw refusal(500, 62, `Syntax error: ${s}`);
  return s;
};

function refusal(status, code, text) {
  return Object.assign(new Error(text), { status, clickhouseCode: code });
}

// body reads what was sent.
async function body(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    if ((size += part.length) > maxBody) throw refusal(413, 1, 'the body is too large');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

// identify refuses whoever is somebody else.
function identify(request) {
  const [scheme, secret] = (request.headers.authorization ?? '').split(' ');
  const basic = scheme === 'Basic' ? Buffer.from(secret, 'base64').toString() : ':';
  const asked = request.headers['x-clickhouse-user'] ?? (basic.slice(0, basic.indexOf(':')) || 'default');
  const given = request.headers['x-clickhouse-key'] ?? basic.slice(basic.indexOf(':') + 1);
  if (asked !== user || given !== password) {
    throw refusal(403, 516, `${asked}: Authentication failed: password is incorrect, or there is no user with such name.`);
  }
}

// preamble are the statements that bring parameters and settings into the session.
function preamble(url) {
  const out = [];
  for (const [key, value] of url.searchParams) {
    if (key.startsWith('param_') || !reserved.has(key)) out.push(`SET ${name(key)} = ${quote(value)};`);
  }
  const database = url.searchParams.get('database');
  if (database) out.push(`USE ${'`' + name(database) + '`'};`);
  return out.join(' ');
}

// insert brings rows in through a file, which the engine decompresses itself.
async function insert(before, sql, rows, encoding) {
  const [, head, format] = /^(INSERT INTO .*) FORMAT (\w+)\s*$/s.exec(sql) ?? [];
  if (!head) throw refusal(500, 62, 'Syntax error: INSERT INTO ... FORMAT ... was expected');
  const file = join(scratch, 'rows');
  writeFileSync(file, rows);
  try {
    await session.queryAsync(`${before} ${head} FROM INFILE ${quote(file)} COMPRESSION ${quote(encoding ?? 'none')} FORMAT ${format}`);
  } finally {
    unlinkSync(file);
  }
  return Buffer.alloc(0);
}

async function run(request, url) {
  identify(request);
  const sent = await body(request);
  const asked = url.searchParams.get('query');
  const format = url.searchParams.get('default_format') ?? 'TabSeparated';
  return exclusively(async () => {
    const before = preamble(url);
    if (asked && sent.length) return insert(before, asked, sent, request.headers['content-encoding']);
    const result = await session.queryAsync(`${before} ${asked ?? sent.toString()}`, { format });
    return Buffer.from(result.bytes());
  });
}

let last = Promise.resolve();
function exclusively(work) {
  const done = last.then(work);
  last = done.catch(() => {});
  return done;
}

async function answer(request, response) {
  const url = new URL(request.url, 'http://peer');
  if (url.pathname === '/ping') return response.end('Ok.\n');
  let out = await run(request, url);
  const zip = url.searchParams.get('enable_http_compression') === '1' && /gzip/.test(request.headers['accept-encoding'] ?? '');
  if (zip) {
    out = gzipSync(out, { level: 1 });
    response.setHeader('content-encoding', 'gzip');
  }
  response.end(out);
}

const server = createServer((request, response) => {
  answer(request, response).catch((e) => {
    const code = e.clickhouseCode ?? 1001;
    response.writeHead(e.status ?? 500, { 'x-clickhouse-exception-code': String(code) });
    response.end(e.message.startsWith('Code:') ? e.message : `Code: ${code}. DB::Exception: ${e.message}`);
  });
});
server.listen(Number(port ?? 0), '127.0.0.1', () => console.log(`listening on ${server.address().port}`));

process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
