import { beforeEach, describe, expect, test } from '@jest/globals';
import { createBuiltinEmbedder } from '../../../src/shared/adapters/builtin/embedder.js';
import { createReadExtraction } from '../../../src/api/services/documents/read-extraction.js';
import { createChunks } from '../../../src/shared/chunks/chunks.js';
import { generationId, type DocumentRecord } from '../../../src/shared/document.js';
import { documentTags } from '../../../src/shared/documents/record-fields.js';
import { createRecords } from '../../../src/shared/documents/records.js';
import { patch } from '../../../src/shared/documents/transitions.js';
import { createEmbedding, type Embedding } from '../../../src/shared/models/embedding.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { makeDocument } from '../../support/documents.js';
import { useLongIngest } from '../../support/long-ingest.js';
import { textGroups } from '../../support/text-groups.js';
import { useJobs } from '../../support/use-jobs.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { url, redis } = useTestRedis({ failFast: false });
const records = createRecords(redis);
const chunks = createChunks(redis);
const groups = textGroups({ redis, jobs: useJobs({ url, redis }) });
const ingestLong = useLongIngest({ url, redis });
const TEXT = 'An otter swims.';

const builtin = createEmbedding(createBuiltinEmbedder(), { maxWaitMilliseconds: 0 });
let sent: string[];
/** A model to which the texts of otters are too long. */
const embedding: Embedding = {
  ...builtin,
  embedDocuments: async (texts, options) => {
    sent.push(...texts.map(({ text }) => text));
    const inParts = texts.map(({ text }) => text.includes('otter'));
    return { ...(await builtin.embedDocuments(texts, options)), inParts };
  },
};
let gaps: number;
const metrics = {
  add: (name: string, labels: object, by = 1) => {
    if (name === 'quire_extraction_gaps_total')
      gaps += 'reason' in labels && labels.reason === 'limit' ? by : 0;
  },
  observe: () => undefined,
};

beforeEach(async () => {
  await redis.flushAll();
  sent = [];
  gaps = 0;
});

async function stored(): Promise<DocumentRecord> {
  const document = makeDocument();
  await records.create(document);
  return document;
}

type Meanwhile = (id: string) => Promise<unknown>;
const nothing: Meanwhile = () => Promise.resolve();

/** Each ingests a text, while something happens, and resolves with its document as it was. */
const ways = {
  'in a job that reads it and one that embeds it': async (meanwhile = nothing) => {
    const document = await stored();
    const { embed } = await ingestLong(document, [TEXT], { embedding, metrics });
    await meanwhile(document.id);
    expect(await embed()).toBe('published');
    return document;
  },
  'alone in one job': async () => {
    const [document] = await groups.store([TEXT]);
    if (!document) throw new Error('nothing stored');
    expect(await groups.run([document.id], { embedding, metrics })).toBe('published');
    return document;
  },
  'in a group, beside one that is read whole': async () => {
    const documents = await groups.store([TEXT, 'A heron flies.']);
    const ids = documents.map(({ id }) => id);
    expect(await groups.run(ids, { embedding, metrics })).toBe('published');
    const [document, other] = documents;
    if (!document || !other) throw new Error('nothing stored');
    expect(await redis.hGet(keys.chunk(generationId(other), 0), 'in_parts')).toBeNull();
    expect((await chunks.generation(generationId(other)))?.inParts).toBe(false);
    expect((await records.read(other.id))?.published?.gaps ?? 0).toBe(0);
    return document;
  },
};

describe.each(Object.entries(ways))('a text that is embedded in parts, ingested %s,', (_, ingest) => {
  test('is embedded once', async () => {
    await ingest();
    expect(sent.filter((text) => text === TEXT)).toHaveLength(1);
  });

  test('says so in its receipt, its record, its chunks and their tags, and is counted', async () => {
    const { id, ownerId } = await ingest();
    const record = await records.read(id);
    if (!record) throw new Error('not found');
    expect(record).toMatchObject({ status: 'completed', published: { gaps: 1 } });
    const readExtraction = createReadExtraction({ records, chunks });
    const { receipt } = await readExtraction({ documentId: id, principal: { id: ownerId } });
    expect(receipt).toMatchObject({ gap_count: 1, gap_counts: { limit: 1 }, gaps: [{ reason: 'limit' }] });
    const chunk = await redis.hGetAll(keys.chunk(generationId(record), 0));
    expect(chunk).toMatchObject({ in_parts: '1', tags: documentTags(record) });
    expect(await redis.hGet(keys.document(id), 'tags')).toBe(documentTags(record));
    expect(gaps).toBe(1);
  });
});

describe.each(Object.entries(ways).slice(0, 1))(
  'one that was changed meanwhile, ingested %s,',
  (_, ingest) => {
    test('is published with what it is now', async () => {
      const change: Meanwhile = (id) =>
        records.update(id, (each) => patch(each, { metadata: { a: 1 }, filename: 'otter.txt' }));
      const { id } = await ingest(change);
      const record = await records.read(id);
      if (!record) throw new Error('not found');
      expect(record).toMatchObject({ metadata: { a: 1 }, published: { gaps: 1, filename: 'otter.txt' } });
      expect(await redis.hGet(keys.chunk(generationId(record), 0), 'tags')).toBe(documentTags(record));
    });
  },
);
