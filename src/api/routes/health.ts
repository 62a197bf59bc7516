import { z } from 'zod';
import { defineRoute, reply, type Route } from '../route.js';
import type { Phase } from '../phase.js';
import type { Readiness } from '../services/health.js';

const health = z.object({ status: z.literal('ok') });
const readiness = z
  .object({
    status: z.enum(['ready', 'not_ready']),
    components: z.record(z.string(), z.enum(['ready', 'loading', 'unavailable'])),
  })
  .meta({ id: 'Readiness' });

const serving = z.object({ status: z.enum(['starting', 'serving', 'stopping']) }).meta({ id: 'Serving' });
const COME_AGAIN = { 'Retry-After': '2' };

export interface HealthOptions {
  readonly readiness: () => Promise<Readiness>;
  readonly phase: () => Phase;
}

export function createHealthRoutes({ readiness: read, phase }: HealthOptions): Route[] {
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
        return reply.json(ready ? 200 : 503, body, ready ? {} : COME_AGAIN);
      },
    }),
    // What all processes share (Redis, workers) does not count here: its absence would take all of them out at once.
    defineRoute({
      method: 'get',
      path: '/health/serving',
      summary: 'Tell balancers whether to send requests to this process',
      tag: 'Health',
      permission: 'open',
      request: {},
      responses: { 200: serving, 503: serving },
      handle: () => {
        const status = phase();
        const isServing = status === 'serving';
        return Promise.resolve(reply.json(isServing ? 200 : 503, { status }, isServing ? {} : COME_AGAIN));
      },
    }),
  ];
}
