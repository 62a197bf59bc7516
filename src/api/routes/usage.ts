import { z } from 'zod';
import type { Owned, Quotas } from '../../shared/documents/counts.js';
import type { Quota } from '../../shared/errors.js';
import { OPERATIONS, type Usage, type UsageEvent } from '../../shared/usage/usage.js';
import type { WriteBehind } from '../../shared/usage/write-behind.js';
import { defineRoute, type Route } from '../http/route.js';
import type { ReadRecentUsage } from '../services/recent-usage.js';
import { queryInstant, optionalOr, queryInteger } from '../http/validation/field-schemas.js';

const statistics = z
  .partialRecord(z.enum(OPERATIONS), z.int())
  .meta({ id: 'UsageStatistics', description: 'Successful operations of the caller by name.' });

const record = z
  .object({
    timestamp: z.string().meta({ format: 'date-time' }),
    operation_type: z.enum(OPERATIONS),
    tokens_used: z.int().describe('Tokens that were embedded, read by a model, or written by it.'),
    user_id: z.string(),
    duration_ms: z.int(),
    status: z.enum(['success', 'error']),
    metadata: z
      .record(z.string(), z.unknown())
      .describe('The subject of the operation, such as a document, a cache or a query.'),
  })
  .meta({ id: 'UsageRecord', description: 'One operation of the caller that has ended.' });

const recentQuery = z.object({
  operation_type: z.string().optional().describe('Only operations of this type.'),
  since: queryInstant.optional().describe('Only operations that ended at this time or later (ISO 8601).'),
  status: z.string().optional().describe('Only operations that ended with `success` or with `error`.'),
  limit: optionalOr(queryInteger({ ge: 1, le: 1000 }), 100).describe('At most this many operations.'),
});

const quotaView = (description: string) =>
  z.object({
    used: z.int().describe(description),
    limit: z.int().nullable().describe('As many as you may have; null where there is no quota.'),
  });

const quotaUsage = z
  .object({
    documents: quotaView('Documents that you own, whatever their status.'),
    bytes: quotaView('Bytes of the sources that are kept for your documents.'),
    chunks: quotaView('Chunks of your documents that can be found.'),
  })
  .meta({ id: 'QuotaUsage', description: 'The things that the caller owns, and how many of them they may.' });

interface UsageParts {
  readonly usage: Pick<Usage, 'stats'>;
  readonly readRecent: ReadRecentUsage;
  readonly usageOfReads: Pick<WriteBehind, 'untilStored'>;
  readonly quotas: Quotas;
  readonly owned: (ownerId: string) => Promise<Owned>;
}

export function createUsageRoutes({ usage, readRecent, usageOfReads, quotas, owned }: UsageParts): Route[] {
  return [
    quotaRoute({ quotas, owned }),
    defineRoute({
      method: 'get',
      path: '/usage/stats',
      audit: 'usage.read',
      summary: 'Count your successful operations',
      description: 'Operations that the caller has never used are left out.',
      tag: 'Usage',
      permission: 'read',
      request: {},
      responses: { 200: statistics },
      examples: usageStatisticsExamples,
      handle: async ({ caller }, reply) => {
        await usageOfReads.untilStored();
        return reply.json(200, await usage.stats(caller.id));
      },
    }),
    defineRoute({
      method: 'get',
      path: '/usage/recent',
      audit: 'usage.read',
      summary: 'List your latest operations, newest first',
      description:
        'The service keeps a limited number of records for each caller and drops the oldest ones first.',
      tag: 'Usage',
      permission: 'read',
      request: { query: recentQuery },
      responses: { 200: z.array(record) },
      examples: recentUsageExamples,
      handle: async ({ caller, query, signal }, reply) =>
        reply.items(await readRecent(caller.id, recentOf(query), signal), recordOf),
    }),
  ];
}

const recentOf = ({
  operation_type: operation,
  since: sinceMs,
  status,
  limit,
}: z.output<typeof recentQuery>) => ({
  operation,
  sinceMs,
  status,
  limit,
});

const quotaRoute = ({ quotas, owned }: Pick<UsageParts, 'quotas' | 'owned'>) =>
  defineRoute({
    method: 'get',
    path: '/usage/quota',
    audit: 'usage.read',
    summary: 'Tell how much you own, and how much you may',
    description:
      'A request that passes a quota is answered 507, with its name. Documents count for those who own them.',
    tag: 'Usage',
    permission: 'read',
    request: {},
    responses: { 200: quotaUsage },
    examples: quotaUsageExamples,
    handle: async ({ caller }, reply) => {
      const used = await owned(caller.id);
      const view = (quota: Quota) => ({ used: used[quota], limit: quotas[quota] });
      return reply.json(200, { documents: view('documents'), bytes: view('bytes'), chunks: view('chunks') });
    },
  });

function recordOf(event: UsageEvent): z.infer<typeof record> {
  return {
    timestamp: event.at,
    operation_type: event.operation,
    tokens_used: event.tokens,
    user_id: event.userId,
    duration_ms: event.durationMs,
    status: event.status,
    metadata: event.metadata,
  };
}

const quotaUsageExamples = {
  responses: {
    200: {
      documents: { used: 3, limit: 1000 },
      bytes: { used: 48_213, limit: null },
      chunks: { used: 41, limit: 100_000 },
    },
  },
};

const usageStatisticsExamples = {
  responses: { 200: { ingest_text: 2, ingest_file: 1, retrieve_chunks: 1, query: 1 } },
};

const recentUsageExamples = {
  query: { operation_type: 'retrieve_chunks', since: '2025-03-01T00:00:00Z', status: 'success', limit: 1 },
  responses: {
    200: [
      {
        timestamp: '2025-03-04T08:10:45.031Z',
        operation_type: 'retrieve_chunks' as const,
        tokens_used: 6,
        user_id: 'alice',
        duration_ms: 7,
        status: 'success' as const,
        metadata: { query: 'How much is the rent?', k: 2, min_score: 0.2, ranking: 'lexical' },
      },
    ],
  },
};
