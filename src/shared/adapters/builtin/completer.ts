import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TermCounts } from '../../../index/index.js';
import { NOTHING_FOUND } from '../../models/prompt.js';
import type { Completer, CompletionEvent, CompletionOptions, Passage, Prompt } from '../../ports.js';
import { analyzeQuery, analyzeText } from '../../text/list-terms.js';
import { sentencesOf, type TextSpan } from '../../text/sentences.js';
import { countLongText, cutToTokens } from '../../text/token-budget.js';
import { countTokens } from '../../text/token-count.js';

const INTRODUCTION = 'Extracted from the documents (no language model is configured):\n';

/** A completer without a model: it answers with the sentences of the passages that fit the question best, and cites them. */
export function createBuiltinCompleter({ contextWindow = 131_072 } = {}): Completer {
  return { model: 'builtin-extract-1', contextWindow, complete };
}

async function* complete(prompt: Prompt, options: CompletionOptions = {}): AsyncIterable<CompletionEvent> {
  const { maxTokens, signal, findMore } = options;
  signal?.throwIfAborted();
  const extracts = await extractSentences(prompt);
  const pieces = renderAnswer(extracts, prompt.passages, findMore);
  const whole = pieces.join('');
  const answer = maxTokens === undefined ? whole : cutToTokens(whole, maxTokens, countTokens);
  let sent = 0;
  for (const piece of pieces) {
    signal?.throwIfAborted();
    const text = piece.slice(0, answer.length - sent);
    if (text === '') break;
    sent += text.length;
    yield { type: 'text', text };
  }
  yield {
    type: 'end',
    finishReason: answer.length < whole.length ? 'length' : 'stop',
    promptTokens: await countPrompt(prompt),
    completionTokens: countTokens(answer),
    quotes: extracts
      .filter(({ sentence }) => answer.includes(sentence))
      .map(({ passage, span }) => ({ passage: prompt.passages.indexOf(passage), ...span })),
  };
}

function renderAnswer(
  extracts: readonly Extract[],
  passages: readonly Passage[],
  findMore: string | undefined,
): string[] {
  if (extracts.length === 0)
    return findMore === undefined ? [NOTHING_FOUND] : [NOTHING_FOUND, `\n\n${findMore}`];
  const cited = [...new Set(extracts.map(({ passage }) => passage))].sort(
    (left, right) => passages.indexOf(left) - passages.indexOf(right),
  );
  const numberOf = (passage: Passage) => String(passages.indexOf(passage) + 1);
  return [
    INTRODUCTION,
    ...extracts.map(({ sentence, passage }) => `\n${sentence} [${numberOf(passage)}]`),
    '\n',
    ...cited.map((passage) => `\n[${numberOf(passage)}] ${nameOf(passage, extracts)}`),
  ];
}

/** The name of a passage, with the places of the sentences that were taken from it. */
function nameOf(passage: Passage, extracts: readonly Extract[]): string {
  const { documentId, chunkNumber, filename, nameOfPlace } = passage;
  if (filename === undefined) return `document ${documentId}, chunk ${String(chunkNumber)}`;
  const taken = extracts.filter((extract) => extract.passage === passage);
  const places = taken.flatMap(({ span }) => nameOfPlace?.(span) ?? []);
  return [filename, ...new Set(places)].join(', ');
}

async function countPrompt({ question, passages }: Prompt): Promise<number> {
  return countLongText([...passages.map(({ text }) => text), question].join('\n'), countTokens);
}

interface Extract {
  /** The sentence on one line. */
  readonly sentence: string;
  readonly passage: Passage;
  /** The place of the sentence in the text of the passage. */
  readonly span: TextSpan;
}

const MAX_SENTENCES = 5;
/** Sentences are taken from this many passages that share most with the question. */
const MAX_PASSAGES = 12;
/** A sentence with less than this share of the best score does not help. */
const MIN_SHARE = 0.4;
/** A question of more terms is pasted text. Its first terms tell enough. */
const MAX_TERMS = 256;
const ANALYZED_BEFORE_PAUSE = 65_536;

type Weights = ReadonlyMap<number, number>;

/**
 * Returns the sentences that share most with the question, best first. When none shares a word with it, as with
 * passages that were found by meaning, it returns the first sentence of the best passage.
 */
async function extractSentences({ question, passages }: Prompt): Promise<Extract[]> {
  const analyzed = await analyzePassages(passages);
  const weights = weighTerms(
    analyzed.map(({ terms }) => terms),
    analyzeQuery(question),
  );
  const ranked = analyzed
    .map(({ passage, terms }) => ({ passage, score: coverage(terms, weights) }))
    .sort((left, right) => right.score - left.score)
    .slice(0, MAX_PASSAGES);
  const candidates = ranked
    .flatMap(({ passage, score }) => scoreSentences(passage, score, weights))
    .sort((left, right) => right.score - left.score);
  const chosen = chooseSentences(candidates);
  return chosen.length > 0 ? chosen : openings(passages);
}

async function analyzePassages(passages: readonly Passage[]) {
  const analyzed: { passage: Passage; terms: TermCounts }[] = [];
  let length = 0;
  for (const passage of passages) {
    analyzed.push({ passage, terms: analyzeText(passage.text) });
    length += passage.text.length;
    if (length < ANALYZED_BEFORE_PAUSE) continue;
    length = 0;
    await nextTurn();
  }
  return analyzed;
}

/** Weighs the question's terms: the fewer passages hold a term, the more it weighs (the idf of BM25, always positive). */
function weighTerms(passages: readonly TermCounts[], question: TermCounts): Weights {
  const total = passages.length;
  const weights = new Map<number, number>();
  for (const term of [...question.counts.keys()].slice(0, MAX_TERMS)) {
    const holders = passages.filter(({ counts }) => counts.has(term)).length;
    weights.set(term, Math.log(1 + (total - holders + 0.5) / (holders + 0.5)));
  }
  return weights;
}

function coverage({ counts }: TermCounts, weights: Weights): number {
  let covered = 0;
  for (const [term, weight] of weights) if (counts.has(term)) covered += weight;
  return covered;
}

interface Candidate extends Extract {
  readonly score: number;
}

/** Shorter sentences score higher, down to this many terms. */
const MIN_LENGTH = 8;
/** Headings do not answer questions: they are questions themselves, or no sentences and say nothing else than was asked. */
const HEADING_PENALTY = 0.25;
const QUESTION_END = /[?？؟]["'”’)]*$/u;
const SENTENCE_END = /[.!。！۔।]["'”’)]*$/u;
const PASSAGE_SHARE = 0.2;

function scoreSentences(passage: Passage, passageScore: number, weights: Weights): Candidate[] {
  return extractsOf(passage).flatMap((extract) => {
    const { sentence } = extract;
    const terms = analyzeText(sentence);
    const covered = coverage(terms, weights);
    if (covered === 0) return [];
    const length = Math.max(MIN_LENGTH, terms.length);
    const saysMore =
      SENTENCE_END.test(sentence) || [...terms.counts.keys()].some((term) => !weights.has(term));
    const penalty = saysMore && !QUESTION_END.test(sentence) ? 1 : HEADING_PENALTY;
    const score = (penalty * (covered + PASSAGE_SHARE * passageScore)) / (1 + length / 60);
    return [{ ...extract, score }];
  });
}

function chooseSentences(candidates: readonly Candidate[]): Extract[] {
  const [best] = candidates;
  if (!best) return [];
  const chosen = new Map<string, Extract>();
  for (const { score, ...extract } of candidates) {
    if (chosen.size >= MAX_SENTENCES || score < best.score * MIN_SHARE) break;
    // Neighbouring chunks repeat text, and so sentences.
    if (!chosen.has(extract.sentence)) chosen.set(extract.sentence, extract);
  }
  return [...chosen.values()];
}

function openings(passages: readonly Passage[]): Extract[] {
  const [passage] = passages;
  return passage ? extractsOf(passage).slice(0, 1) : [];
}

const extractsOf = (passage: Passage): Extract[] =>
  sentencesOf(passage.text).map((span) => {
    const sentence = passage.text.slice(span.start, span.end).replace(/\s+/gu, ' ');
    return { sentence, passage, span };
  });
