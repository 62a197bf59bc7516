import type { RequestHandler } from 'express';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { requestFacts } from '../http/logging/request-facts.js';
import type { AnswerMemory } from '../services/retrieval/answer-memory.js';

/** An ingest that waits for its document takes up to two minutes. */
const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export interface ProcessMetrics {
  /** Times each request; must come before everything else. */
  readonly measure: RequestHandler;
  /** A client was cut off because it took too little of its answer. */
  readonly countCutOff: () => void;
  readonly showAnswerMemory: (memory: Pick<AnswerMemory, 'figures'>) => void;
  /** Prometheus text. */
  render(): Promise<string>;
}

/** What this API process knows about itself: its requests, memory, event loop. */
export function createProcessMetrics(): ProcessMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const durations = new Histogram({
    name: 'quire_http_request_duration_seconds',
    help: 'Time from a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: DURATION_BUCKETS,
    registers: [registry],
  });
  const cutOff = new Counter({
    name: 'quire_http_clients_cut_off_total',
    help: 'Clients that took too little of their answers.',
    registers: [registry],
  });
  return {
    showAnswerMemory: (memory) => {
      const show = (name: string, help: string, figure: 'held' | 'waiting') =>
        new Gauge({
          name,
          help,
          registers: [registry],
          collect() {
            this.set(memory.figures()[figure]);
          },
        });
      show(
        'quire_answer_memory_bytes',
        'Held for answers that clients have not taken yet, estimated.',
        'held',
      );
      show('quire_answers_waiting', 'Answers that wait for such memory.', 'waiting');
    },
    countCutOff: () => {
      cutOff.inc();
    },
    measure: (request, response, next) => {
      const end = durations.startTimer();
      const { method } = request;
      response.once('close', () => {
        end({
          method: METHODS.has(method) ? method : 'other',
          // Never the path: it is the client's to choose.
          route: requestFacts(request).route ?? 'none',
          status: response.headersSent ? `${String(Math.floor(response.statusCode / 100))}xx` : 'aborted',
        });
      });
      next();
    },
    render: () => registry.metrics(),
  };
}
