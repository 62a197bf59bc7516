import { z } from 'zod';
import { at } from '../../shared/at.js';
import { createCompleter, createEmbedder, createReranker } from '../../shared/create-adapters.js';
import { explainFailure } from '../../shared/models/in-use/explain-failure.js';
import {
  modelsInUse,
  placeOf,
  ROLES,
  type ModelInUse,
  type Role,
} from '../../shared/models/in-use/models-in-use.js';
import type { Completer, Embedder, Reranker } from '../../shared/ports.js';
import { loadSettings, type Environment, type Settings } from '../../shared/settings/load.js';
import {
  ANSWERS,
  dot,
  inSeconds,
  QUESTIONS,
  sanityLine,
  SHOWN_CHARACTERS,
  shownSimilarities,
  test,
  type TestResult,
  type Verdict,
} from './test.js';

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

const [QUESTION] = QUESTIONS;
/** A model that thinks before it answers needs some tokens for that. */
const MAX_TOKENS = 1_024;

/** Tells whether a text is nearer to the text that answers it than to another. */
async function tryRemoteEmbedder(embedder: Embedder): Promise<Verdict> {
  const { result, seconds } = await timed(async () => ({
    questions: await Promise.all(QUESTIONS.map((text) => embedder.embedQuery(text))),
    answers: await embedder.embedDocuments(ANSWERS),
  }));
  const questions = result.questions.map(({ vectors }) => vectors[0]);
  const { vectors: answers } = result.answers;
  const alike = questions.map((each, one) => dot(each, answers[one]));
  const unlike = questions.map((each, one) => dot(each, answers[answers.length - 1 - one]));
  const isSane = alike.every((each, one) => each > (unlike[one] ?? each));
  return {
    isSane,
    lines: [
      `  vectors ${String(at(answers, 0).length)} dimensions`,
      `  time    ${seconds} s for ${String(QUESTIONS.length + ANSWERS.length)} texts in ${String(QUESTIONS.length + 1)} requests`,
      sanityLine(
        isSane,
        `questions are ${shownSimilarities(alike)} like their answers, ${shownSimilarities(unlike)} like those of the other`,
      ),
    ],
  };
}

/** Tries a completer. A model may say anything; a sane one says something. */
async function tryRemoteCompleter(completer: Completer): Promise<Verdict> {
  const passages = ANSWERS.map((text, chunkNumber) => ({ documentId: 'quire', chunkNumber, text }));
  const { result, seconds } = await timed(async () => {
    let text = '';
    const events = completer.complete({ question: QUESTION, passages }, { maxTokens: MAX_TOKENS });
    for await (const event of events) if (event.type === 'text') text += event.text;
    return text.trim();
  });
  const isSane = result !== '';
  return {
    isSane,
    lines: [
      `  time    ${seconds} s`,
      `  says    ${JSON.stringify(result.slice(0, SHOWN_CHARACTERS))}`,
      sanityLine(isSane, isSane ? 'it answers' : 'it says nothing'),
    ],
  };
}

/** Tells whether the text that answers scores higher than another. */
async function tryRemoteReranker(reranker: Reranker): Promise<Verdict> {
  const { result, seconds } = await timed(() => reranker.rerank(QUESTION, [...ANSWERS].reverse()));
  const [other, answer] = z.tuple([z.number(), z.number()]).parse(result.scores);
  const isSane = answer > other;
  return {
    isSane,
    lines: [
      `  time    ${seconds} s`,
      sanityLine(isSane, `the text that answers has ${answer.toFixed(3)}, the other ${other.toFixed(3)}`),
    ],
  };
}

async function timed<Result>(work: () => Promise<Result>): Promise<{ result: Result; seconds: string }> {
  const begin = performance.now();
  const result = await work();
  return { result, seconds: inSeconds(performance.now() - begin) };
}
