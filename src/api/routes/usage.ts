import { z } from 'zod';
import { OPERATIONS, type Usage, type UsageEvent } from '../../shared/usage/usage.js';
import { queryInstant } from '../http/validation/instant.js';
import { optionalOr, queryInteger } from '../http/validation/field-schemas.js';
import { defineRoute, type Route } from '../http/route.js';

const statistics = z
  .partialRecord(z.enum(OPERATIONS), z.int())
  .meta({ id: 'UsageStatistics', description: 'Successful operations of the caller by name.' });

const record = z
  .object({
    timestamp: z.string().meta({ format: 'date-time' }),
    operation_type: z.enum(OPERATIONS),
    tokens_used: z.int(),
    user_id: z.string(),
    duration_ms: z.int(),
    status: z.enum(['success', 'error']),
    metadata: z.record(z.string(), z.json()),
  })
  .meta({ id: 'UsageRecord' });

const recentQuery = z.object({
  operation_type: z.string().optional(),
  since: queryInstant.optional(),
  status: z.string().optional(),
  limit: optionalOr(queryInteger({ ge: 1, le: 1000 }), 100),
});

export function createUsageRoutes({ usage }: { usage: Pick<Usage, 'stats' | 'recent'> }): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/usage/stats',
      summary: 'Count your successful operations',
      tag: 'Usage',
      permission: 'read',
      request: {},
      responses: { 200: statistics },
      handle: async ({ caller }, reply) => reply.json(200, await usage.stats(caller.id)),
    }),
    defineRoute({
      method: 'get',
      path: '/usage/recent',
      summary: 'List your latest operations, newest first',
      tag: 'Usage',
      permission: 'read',
      request: { query: recentQuery },
      responses: { 200: z.array(record) },
      handle: async ({ caller, query: { operation_type: operation, since, status, limit } }, reply) => {
        const events = await usage.recent(caller.id, { operation, sinceMs: since, status, limit });
        return reply.json(200, events.map(recordOf));
      },
    }),
  ];
}

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
