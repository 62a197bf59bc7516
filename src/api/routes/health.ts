import { z } from 'zod';
import { defineRoute, type Route } from '../http/route.js';
import type { LifecyclePhase } from '../lifecycle-phase.js';
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
  readonly phase: () => LifecyclePhase;
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
      handle: (_request, reply) => Promise.resolve(reply.json(200, { status: 'ok' })),
    }),
    defineRoute({
      method: 'get',
      path: '/health/ready',
      summary: 'Tell whether Redis, index, storage and workers are there',
      tag: 'Health',
      permission: 'open',
      request: {},
      responses: { 200: readiness, 503: readiness },
      handle: async (_request, reply) => {
        const { ready, components } = await read();
        return ready
          ? reply.json(200, { status: 'ready', components })
          : reply.json(503, { status: 'not_ready', components }, COME_AGAIN);
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
      handle: (_request, reply) => {
        const status = phase();
        const isServing = status === 'serving';
        return Promise.resolve(reply.json(isServing ? 200 : 503, { status }, isServing ? {} : COME_AGAIN));
      },
    }),
  ];
}
