import { describe, expect, test } from '@jest/globals';
import { describeWithQueryEngine } from '../support/query-engine.js';
import type { RerankerFault } from '../support/reranker-faults.js';
import {
  ingestHerons,
  rerankHeader,
  RERANKED_PATHS,
  searchReranked,
  type UsageRecord,
} from '../support/reranked.js';
import { EVERYDAY, RERANKING } from '../support/shared/environments.js';
import { useFakeReranker } from '../support/shared/use-fake-reranker.js';
import { useService, type SharedService } from '../support/shared/use-service.js';

const provider = useFakeReranker({ apiKey: RERANKING.env.RERANKER_API_KEY });

/** The count of each outcome, by all callers of the service. */
async function countsOf(service: SharedService): Promise<Record<string, number>> {
  const page = await (await fetch(`${service.url}/metrics`)).text();
  const lines = [...page.matchAll(/^quire_reranks_total\{outcome="(\w+)"\} (\d+)$/gm)];
  const durations = /^quire_rerank_duration_seconds_count (\d+)$/m.exec(page)?.[1];
  return {
    durations: Number(durations),
    ...Object.fromEntries(lines.map(([, name = '', n]) => [name, Number(n)] as const)),
  };
}

describe('without a reranker', () => {
  const service = useService({ env: EVERYDAY });

  test('a request for one is a 400 that names the setting, and leaves no record', async () => {
    const client = service.client('none');
    for (const path of RERANKED_PATHS) {
      for (const rerank of [true, {}, { top_n: 3 }]) {
        const reply = await client.post(path, { query: 'heron', rerank });
        expect([reply.status, reply.body]).toEqual([400, { detail: expect.stringContaining('`reranker`') }]);
      }
      const stream = await client.post(path, { query: 'heron', rerank: true, stream: true });
      expect(stream.status).toBe(400);
      for (const rerank of [false, null, undefined]) {
        const reply = await client.post(path, { query: 'heron', rerank, use_reranking: true });
        expect([reply.status, rerankHeader(reply)]).toEqual([200, null]);
      }
    }
    const { body } = await client.get<UsageRecord[]>('/usage/recent');
    expect(body).toHaveLength(9);
    expect(body.every(({ metadata }) => !('reranked' in metadata))).toBe(true);
  });

  test('what is no wish for one is a 422', async () => {
    const client = service.client('invalid');
    const bool = { msg: 'value could not be parsed to a boolean', type: 'type_error.bool' };
    const integer = { msg: 'value is not a valid integer', type: 'type_error.integer' };
    const least = { type: 'value_error.number.not_ge', ctx: { limit_value: 1 } };
    const most = { type: 'value_error.number.not_le', ctx: { limit_value: 1000 } };
    const wrong: [unknown, object, string[]][] = [
      ['true', bool, []],
      [1, bool, []],
      [0, bool, []],
      [[], bool, []],
      [{ top_n: '3' }, integer, ['top_n']],
      [{ top_n: 2.5 }, integer, ['top_n']],
      [{ top_n: true }, integer, ['top_n']],
      [{ top_n: 0 }, least, ['top_n']],
      [{ top_n: 1001 }, most, ['top_n']],
    ];
    for (const path of RERANKED_PATHS) {
      for (const [rerank, item, place] of wrong) {
        const reply = await client.post(path, { query: 'heron', rerank });
        const detail = [expect.objectContaining({ loc: ['body', 'rerank', ...place], ...item })];
        expect([path, rerank, reply.status, reply.body]).toEqual([path, rerank, 422, { detail }]);
      }
    }
  });
});

describe('on the exact index', () => {
  describeFailures({ onQueryEngine: false });
});
describeWithQueryEngine('on the Query Engine', () => {
  describeFailures({ onQueryEngine: true });
});

function describeFailures({ onQueryEngine }: { readonly onQueryEngine: boolean }): void {
  const service = useService({ ...RERANKING, onQueryEngine, provider });
  const user = service.client;

  test.each<[string, Record<string, unknown>]>([
    ['unavailable', { status: 500 }],
    ['unavailable', { status: 401 }],
    ['unavailable', { fault: 'disconnect' satisfies RerankerFault }],
    ['unavailable', { fault: 'redirect' satisfies RerankerFault }],
    ['refused', { status: 400 }],
    ['bad_reply', { fault: 'repeated_index' satisfies RerankerFault }],
    ['bad_reply', { fault: 'index_out_of_range' satisfies RerankerFault }],
    ['bad_reply', { fault: 'not_a_number' satisfies RerankerFault }],
    ['bad_reply', { fault: 'too_few' satisfies RerankerFault }],
    ['bad_reply', { fault: 'above_one' satisfies RerankerFault }],
    ['bad_reply', { fault: 'huge' satisfies RerankerFault }],
    ['timeout', { fault: 'silence' satisfies RerankerFault }],
    ['timeout', { fault: 'slow_drip' satisfies RerankerFault }],
  ])('answers in the first order, and says why: %s with %j', async (reason, fault) => {
    // Everybody sees the failure of one caller alone, and the answer of another ends it.
    const client = user(`fails-${JSON.stringify(fault)}`);
    await ingestHerons(client, [0.1, 0.7]);
    const plain = await searchReranked(client, { rerank: false, min_score: 0.05 });
    const before = await countsOf(service);
    provider.configure(fault);
    const found = await searchReranked(client, { min_score: 0.05 });
    expect([found.status, rerankHeader(found)]).toEqual([200, `skipped; reason=${reason}`]);
    expect(found.body).toEqual(plain.body);
    const after = await countsOf(service);
    expect(after[reason]).toBe((before[reason] ?? 0) + 1);
    expect(after['durations']).toBe((before['durations'] ?? 0) + 1);
    expect(provider.followed()).toBe(0);
    // While the provider is given a rest, nothing is sent, and nobody waits.
    const sent = provider.requests.length;
    const again = await searchReranked(client, { rerank: { top_n: 1 } });
    expect(rerankHeader(again)).toBe(`skipped; reason=${reason === 'refused' ? 'refused' : 'paused'}`);
    expect(again.body).toHaveLength(1);
    if (reason !== 'refused') expect(provider.requests).toHaveLength(sent);
    provider.reset();
    const other = user('recovers');
    await ingestHerons(other, [0.5]);
    expect(rerankHeader(await searchReranked(other))).toBe('applied');
    expect((await countsOf(service))['applied']).toBe((before['applied'] ?? 0) + 1);
    const { body } = await client.get<UsageRecord[]>('/usage/recent?operation_type=retrieve_chunks');
    expect(body.map(({ status, metadata }) => [status, metadata['reranked']])).toEqual([
      ['success', false],
      ['success', false],
      ['success', undefined],
    ]);
  });
}
