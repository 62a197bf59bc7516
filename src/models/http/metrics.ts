import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ModelKind } from '../../shared/local-models/description.js';
import type { StateFiles } from '../engine/chat/saved-states.js';
import type { LoadedModels } from '../engine/loaded-models.js';

export interface ModelsMetrics {
  /** Measures a request from its arrival to the end of its answer. */
  during<Result>(kind: ModelKind, task: () => Promise<Result>): Promise<Result>;
  addTokens(kind: ModelKind, what: 'read' | 'reused' | 'written', tokens: number): void;
  observeRestore(milliseconds: number): void;
  countGivingWay(): void;
  render(): Promise<{ readonly type: string; readonly text: string }>;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

interface Watching {
  /** Shows from then on the loaded models and the kept states. */
  watch(models: LoadedModels, states: StateFiles): void;
}

export function createModelsMetrics(): ModelsMetrics & Watching {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const { requests, tokens, restores, givingWay } = createMeters(registers);
  return {
    during: async (kind, task) => {
      const end = requests.startTimer({ kind });
      try {
        const result = await task();
        end({ outcome: 'ok' });
        return result;
      } catch (error) {
        end({ outcome: 'error' });
        throw error;
      }
    },
    addTokens: (kind, what, count) => tokens.inc({ kind, what }, count),
    observeRestore: (milliseconds) => restores.observe(milliseconds / 1_000),
    countGivingWay: () => givingWay.inc(),
    render: async () => ({ type: registry.contentType, text: await registry.metrics() }),
    watch: (models, states) => {
      watchModels(models, registers);
      watchStates(states, registers);
    },
  };
}

function createMeters(registers: Registry[]) {
  const requests = new Histogram({
    name: 'quire_models_request_seconds',
    help: 'Time from the arrival of a request to the end of its answer, waiting included.',
    labelNames: ['kind', 'outcome'],
    buckets: SECONDS,
    registers,
  });
  const tokens = new Counter({
    name: 'quire_models_tokens_total',
    help: 'Tokens that models have read, had read before, and have written.',
    labelNames: ['kind', 'what'],
    registers,
  });
  const restores = new Histogram({
    name: 'quire_models_state_restore_seconds',
    help: 'Time to load a saved state.',
    buckets: SECONDS,
    registers,
  });
  const givingWay = new Counter({
    name: 'quire_models_gave_way_total',
    help: 'Times that a conversation was put aside for another that waited.',
    registers,
  });
  return { requests, tokens, restores, givingWay };
}

/** Gauges of the loaded models, read when they are asked for. */
function watchModels(models: LoadedModels, registers: Registry[]): void {
  const labelNames = ['model', 'kind'] as const;
  // prom-client calls `collect` on the gauge before it shows it.
  new Gauge({
    name: 'quire_models_loaded_bytes',
    help: 'Memory of the models that are loaded, as estimated when they were.',
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const { name, kind, bytes } of models.loaded()) this.set({ model: name, kind }, bytes);
    },
  });
  new Gauge({
    name: 'quire_models_waiting',
    help: 'Texts and conversations that wait for a model.',
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const { name, kind, waiting } of models.loaded()) this.set({ model: name, kind }, waiting);
    },
  });
}

function watchStates(states: StateFiles, registers: Registry[]): void {
  new Gauge({
    name: 'quire_models_states',
    help: 'Named caches that models have read and that are kept on the disk.',
    registers,
    async collect() {
      this.set((await states.list()).length);
    },
  });
  new Gauge({
    name: 'quire_models_state_bytes',
    help: 'Disk space that what models have read of named caches takes.',
    registers,
    async collect() {
      this.set((await states.list()).reduce((sum, { bytes }) => sum + bytes, 0));
    },
  });
}
