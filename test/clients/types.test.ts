import { beforeAll, describe, expect, test } from '@jest/globals';
import { compileText } from '../support/compile-text.js';

/** Statements of somebody who uses the client. Objects in variables are as well checked as those in the call itself. */
const HEAD = `import { Quire, QuireError, type AnswerOf } from 'quire-client';
declare const quire: Quire;
declare const signal: AbortSignal;
const search = { query: 'leaves', filters: { topic: 'books', year: { $gte: 2020 }, $or: [{ a: 1 }, { 'b.c': { $in: [1, 'x', null] } }] }, k: 3 };
const misspelt = { query: 'leaves', filter: { topic: 'books' } };
const misspeltRerank = { query: 'leaves', rerank: { top_n: 2, topn: 3 } };
const misspeltFilter = { query: 'leaves', filters: { year: { $gte: 2020, $less: 4 } } };
const misspeltQuestion = { query: 'leaves', temprature: 1 };
const misspeltText = { metadata: { topic: 'books' }, file_name: 'a.txt' };
const misspeltFile = { ocr: 'off' as const, ocrMode: 'off' };
const misspeltItems = [{ content: 'a' }, { content: 'b', metdata: {} }];
const misspeltList = { filters: {}, order_by: 'name' };
const misspeltPatch = { metadata: {}, meta: {} };
const misspeltRecent = { limit: 3, operation: 'query' };
`;

const WRONG = [
  "quire.search.chunks({ query: 'leaves', filter: { topic: 'books' } })",
  'quire.search.chunks(misspelt)',
  'quire.search.chunks(misspeltRerank)',
  'quire.search.chunks(misspeltFilter)',
  "quire.search.chunks({ query: 'leaves', k: '4' })",
  "quire.search.chunks({ query: 'leaves', ranking: 'lexcal' })",
  "quire.search.chunks({ query: 'leaves', filters: { topic: ['books'] } })",
  'quire.search.docs(misspelt)',
  'quire.ask(misspeltQuestion)',
  "quire.caches.ask('leaves', misspeltQuestion)",
  "quire.ingest.text('A quire', misspeltText)",
  "quire.ingest.text('A quire', { metdata: {} })",
  "quire.ingest.text({ content: 'A quire' })",
  "quire.ingest.file('a.txt', misspeltFile)",
  "quire.ingest.file('a.txt', { metadata: 'topic' })",
  'quire.ingest.file(5)',
  'quire.ingest.batch(misspeltItems)',
  "quire.ingest.files(['a.txt'], { metdata: [{}] })",
  'quire.documents.list(misspeltList)',
  "quire.documents.list({ sort: 'size' })",
  "quire.documents.patch('id', misspeltPatch)",
  "quire.documents.merge('id', misspeltPatch)",
  "quire.documents.putText('id', { text: 'A quire' })",
  'quire.documents.get()',
  "quire.documents.get('id', { sgnal: null })",
  "quire.documents.page('id', 'first')",
  'quire.usage.recent(misspeltRecent)',
  "quire.request('GET /nowhere')",
  "quire.request('GET /documents/{document_id}')",
  "quire.request('POST /query', { body: { question: 'Which?' } })",
  "quire.ingest.text('A quire').then(({ value }) => value.id)",
  "quire.ingest.text('A quire').then((document) => document.external_id)",
  "quire.ingest.text('A quire').then(({ ready, value }) => { if (ready) value.status })",
  "quire.search.chunks({ query: 'leaves' }).then((found) => found.value)",
  "(async () => { for await (const part of quire.ask('Which?')) part.sources })",
  "new Quire({ token: 'secret' })",
];

const RIGHT = [
  "new Quire({ url: 'http://127.0.0.1:8000', token: () => Promise.resolve('token'), retries: 1 })",
  'quire.search.chunks(search).then(([chunk]) => chunk?.content)',
  "quire.search.chunks({ query: 'leaves', ranking: 'hybrid', rerank: { top_n: 3 } }, { signal, retries: 0 })",
  "quire.search.docs({ query: 'leaves', rerank: true })",
  "quire.ingest.text('A quire', { metadata: { a: { b: [1, { c: 2 }] } }, wait: false, signal }).then(({ ready, value }) => ready ? value.chunk_ids : value.system_metadata.stage)",
  "quire.ingest.file(new Blob(['a']), { filename: 'a.txt', metadata: { a: 1 }, on_duplicate: 'return', onProgress: () => undefined })",
  "quire.ingest.file('a.txt', { onProgress: ({ sent, total }) => void (sent / (total ?? 1)) })",
  "quire.ingest.files(['a.txt', new Uint8Array(3)], { metadata: [{ a: 1 }, null], ocr: 'off' })",
  "quire.ingest.batch([{ content: 'a' }, { content: 'b', metadata: { a: 1 } }], { wait: 5 }).then(({ value }) => value.map((outcome) => 'document_id' in outcome ? outcome.status : outcome.error.msg))",
  "(async () => { for await (const part of quire.ask('Which?')) part.type === 'token' ? part.text.length : part.sources.map(({ quotes }) => quotes) })",
  "quire.ask({ query: 'Which?', filters: search.filters }).answer().then((answer: AnswerOf<'POST /query'>) => answer.completion)",
  "(async () => { for await (const { external_id: id } of quire.documents.list({ filters: search.filters, sort: '-created', limit: 5, signal })) id.length })",
  "quire.documents.patch('id', { metadata: { a: 1 } }, { headers: { 'If-Match': '1' } })",
  "quire.documents.merge('id', { metadata: { a: null } })",
  "quire.documents.download('id').then(({ body }) => body)",
  "quire.documents.page('id', 3, { highlight: '7' }).then((page) => page.blob())",
  "quire.documents.chunks('id', { skip: 10, limit: 5, timeout: 100 }).then(([chunk]) => chunk?.section)",
  "quire.documents.cancel('id').then(({ external_id }) => external_id)",
  "quire.caches.create({ name: 'leaves', model: 'none', gguf_file: 'none', filters: search.filters })",
  "quire.request('POST /retrieve/chunks', { body: search, signal })",
  "quire.request('GET /usage/recent', { query: { limit: 3 } })",
  "quire.request('GET /caches').then((caches) => caches.map(({ doc_count }) => doc_count))",
  'new QuireError({ status: 422, detail: "no" }).errors.map(({ loc, msg, type }) => [loc, msg, type])',
];

/** Returns the messages of the compiler by the statements that they are about. */
function compile(statements: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>(statements.map((statement) => [statement, []]));
  const first = HEAD.split('\n').length;
  const mistakes = compileText(HEAD + statements.map((statement) => `;${statement};\n`).join(''));
  for (const { line, message } of mistakes) {
    const about = statements[line - first] ?? message;
    found.set(about, [...(found.get(about) ?? []), message]);
  }
  return found;
}

describe('types of the client', () => {
  let found: ReadonlyMap<string, readonly string[]>;
  beforeAll(() => {
    found = compile([...WRONG, ...RIGHT]);
  });

  test.each(WRONG)('refuse %s', (statement) => {
    expect(found.get(statement)).not.toEqual([]);
  });

  test.each(RIGHT)('take %s', (statement) => {
    expect(found.get(statement)).toEqual([]);
  });

  test('have no mistakes of their own', () => {
    expect([...found.keys()]).toEqual([...WRONG, ...RIGHT]);
  });
});
