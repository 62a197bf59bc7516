import { Document } from '@langchain/core/documents';
import { Quire } from 'quire-client';
import { addDocuments, QuireLoader, QuireRetriever } from 'quire-langchain';
import { expect, test } from '@jest/globals';
import { pagesPdf } from '../support/pdfs.js';
import { EVERYDAY } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';

const service = useService({ env: EVERYDAY });
const quireOf = (name: string) =>
  new Quire({ url: service.url, token: service.client(name).authorization.replace('Bearer ', '') });

test('the retriever finds chunks, with the place that each stands at', async () => {
  const quire = quireOf('retriever');
  const pdf = new File([pagesPdf([['A heron stands.'], ['A goose swims.']]).slice()], 'birds.pdf');
  const { value } = await quire.ingest.file(pdf, { metadata: { topic: 'birds', score: 'mine' } });
  await quire.ingest.text('A heron of another topic.', { metadata: { topic: 'names' } });
  const retriever = new QuireRetriever({
    quire,
    k: 2,
    filters: { topic: 'birds' },
    search: { ranking: 'lexical' },
  });
  const found = await retriever.invoke('heron');
  expect(found).toHaveLength(1);
  expect(found[0]?.pageContent).toContain('A heron stands.');
  expect(found[0]?.metadata).toMatchObject({
    topic: 'birds',
    document_id: value.external_id,
    chunk_number: 0,
    score: expect.any(Number),
    source: 'birds.pdf',
    page: 1,
    page_url: expect.stringContaining(value.external_id),
  });
  expect(found[0]?.id).toBe(`${value.external_id}-0`);
  expect(await new QuireRetriever({ quire, minScore: 1 }).invoke('heron of elsewhere')).toEqual([]);
  expect(await new QuireRetriever({ quire: quireOf('stranger') }).invoke('heron')).toEqual([]);
});

test('documents of LangChain go in, in their order, and come out by the loader', async () => {
  const quire = quireOf('loader');
  const documents = Array.from(
    { length: 130 },
    (_, n) =>
      new Document({
        pageContent: `Leaf ${String(n)}.`,
        metadata: { n, loc: { lines: { from: 1, to: 2 } } },
      }),
  );
  const ids = await addDocuments(quire, documents);
  expect(new Set(ids).size).toBe(130);
  expect((await quire.documents.get(ids[129] ?? '')).metadata).toEqual({
    n: 129,
    loc: { lines: { from: 1, to: 2 } },
  });
  const loaded = await new QuireLoader({ quire, list: { filters: { n: { $lt: 3 } } } }).load();
  expect(loaded.map(({ metadata }) => Number(metadata['n'])).sort()).toEqual([0, 1, 2]);
  expect(loaded[0]).toMatchObject({
    pageContent: expect.stringMatching(/^Leaf \d\.$/),
    metadata: { chunk_number: 0 },
  });
});

test('documents that are refused are named, and the others are there', async () => {
  const quire = quireOf('refused');
  const documents = ['A leaf.', ' '].map((pageContent) => new Document({ pageContent }));
  await expect(addDocuments(quire, documents)).rejects.toThrow(/\(1: /);
  expect(await new QuireRetriever({ quire }).invoke('leaf')).toHaveLength(1);
});
