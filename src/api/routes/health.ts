import { z } from 'zod';
import { defineRoute, reply, type Route } from '../route.js';
import type { Readiness } from '../services/health.js';

const health = z.object({ status: z.literal('ok') });
const readiness = z
  .object({
    status: z.enum(['ready', 'not_ready']),
    components: z.record(z.string(), z.enum(['ready', 'loading', 'unavailable'])),
  })
  .meta({ id: 'Readiness' });

export function createHealthRoutes({ readiness: read }: { readiness: () => Promise<Readiness> }): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/health',
      summary: 'Tell that the process lives',
      tag: 'Health',
      permission: 'open',
      request: {},
      responses: { 200: health },
      handle: () => Promise.resolve(reply.json(200, { status: 'ok' })),
    }),
    defineRoute({
      method: 'get',
      path: '/health/ready',
      summary: 'Tell whether Redis, index, storage and workers are there',
      tag: 'Health',
      permission: 'open',
      request: {},
      responses: { 200: readiness, 503: readiness },
      handle: async () => {
        const { ready, components } = await read();
        const body = { status: ready ? 'ready' : 'not_ready', components };
        return reply.json(ready ? 200 : 503, body, ready ? {} : { 'Retry-After': '2' });
      },
    }),
  ];
}
