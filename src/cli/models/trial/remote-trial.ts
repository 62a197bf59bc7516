import { z } from 'zod';
import type { Completer, Embedder, Reranker } from '../../../shared/ports.js';
import { dot, inSeconds, sanityLine, type Verdict } from './verdict.js';

/** Each question has its answer at the same place; no words but the smallest are in both. */
const QUESTIONS = ['How do plants make their food?', 'What should I do when my bicycle has a flat tyre?'];
const ANSWERS = [
  'Leaves turn sunlight, water and carbon dioxide into sugar by photosynthesis.',
  'Take off the wheel, find the hole in the inner tube and patch it.',
];
const [QUESTION = ''] = QUESTIONS;
const SHOWN_CHARACTERS = 200;
/** A model that thinks before it answers needs some tokens for that. */
const MAX_TOKENS = 1_024;

/** Tells whether a text is nearer to the text that answers it than to another. */
export async function tryRemoteEmbedder(embedder: Embedder): Promise<Verdict> {
  const { result, seconds } = await timed(async () => ({
    questions: await Promise.all(QUESTIONS.map((text) => embedder.embedQuery(text))),
    answers: await embedder.embedDocuments(ANSWERS),
  }));
  const questions = result.questions.map(({ vectors }) => vectors[0]);
  const { vectors: answers } = result.answers;
  const alike = questions.map((each, one) => dot(each, answers[one]));
  const unlike = questions.map((each, one) => dot(each, answers[answers.length - 1 - one]));
  const isSane = alike.every((each, one) => each > (unlike[one] ?? each));
  const shown = (similarities: readonly number[]) =>
    similarities.map((each) => each.toFixed(2)).join(' and ');
  return {
    isSane,
    lines: [
      `  vectors ${String(answers[0]?.length ?? 0)} dimensions`,
      `  time    ${seconds} s for ${String(QUESTIONS.length + ANSWERS.length)} texts in ${String(QUESTIONS.length + 1)} requests`,
      sanityLine(
        isSane,
        `questions are ${shown(alike)} like their answers, ${shown(unlike)} like those of the other`,
      ),
    ],
  };
}

/** Tries a completer. A model may say anything; a sane one says something. */
export async function tryRemoteCompleter(completer: Completer): Promise<Verdict> {
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
export async function tryRemoteReranker(reranker: Reranker): Promise<Verdict> {
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
