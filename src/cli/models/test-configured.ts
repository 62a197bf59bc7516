import { createCompleter, createEmbedder, createReranker } from '../../shared/create-adapters.js';
import { explainFailure } from '../../shared/models/in-use/explain-failure.js';
import {
  modelsInUse,
  placeOf,
  ROLES,
  type ModelInUse,
  type Role,
} from '../../shared/models/in-use/models-in-use.js';
import { loadSettings, type Environment, type Settings } from '../../shared/settings/load.js';
import { test, type TestResult } from './test.js';
import { tryRemoteCompleter, tryRemoteEmbedder, tryRemoteReranker } from './trial/remote-trial.js';
import type { Verdict } from './trial/verdict.js';

/**
 * Tries the embedder, completer and reranker that the settings name, in this process and without a service.
 * @throws UserError, SettingsError
 */
export async function testConfigured(env: Environment): Promise<TestResult> {
  const settings = loadSettings(env, []);
  const used = modelsInUse(settings);
  const results: TestResult[] = [];
  // One after the other, since local ones share the processor.
  for (const role of ROLES) results.push(await tryRole(role, { used: used[role], settings, env }));
  return {
    isSane: results.every(({ isSane }) => isSane),
    text: results.map(({ text }) => text).join('\n'),
  };
}

interface Trial {
  readonly used: ModelInUse;
  readonly settings: Settings;
  readonly env: Environment;
}

async function tryRole(role: Role, { used, settings, env }: Trial): Promise<TestResult> {
  const { kind, model, address } = used;
  const place = placeOf(used)?.at;
  if (model === null) return { isSane: true, text: `${role}: none` };
  if (place === 'this-process') return { isSane: true, text: `${role}: ${kind}, which needs no model` };
  if (place === 'models-process') {
    const { isSane, text } = await test(model, env);
    return { isSane, text: `${role}: ${text}` };
  }
  const head = `${role}: ${kind}, ${model}${address === null ? '' : `, at ${address}`}`;
  try {
    const { isSane, lines } = await ask(role, settings);
    return { isSane, text: [head, ...lines].join('\n') };
  } catch (error) {
    return { isSane: false, text: `${head}\n  FAIL    ${explainFailure(error, used)}` };
  }
}

/** Nothing is waited for: only local models may have to start. */
const OPTIONS = { onWaiting: () => undefined };

async function ask(role: Role, settings: Settings): Promise<Verdict> {
  switch (role) {
    case 'embedder':
      return tryRemoteEmbedder(await createEmbedder(settings, OPTIONS));
    case 'completer':
      return tryRemoteCompleter(await createCompleter(settings, OPTIONS));
    case 'reranker': {
      const reranker = await createReranker(settings, OPTIONS);
      return reranker ? tryRemoteReranker(reranker) : { isSane: true, lines: [] };
    }
  }
}
