import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TermCounts } from '../../../index/index.js';
import { NOTHING_FOUND } from '../../models/prompt.js';
import type { Completer, CompletionEvent, CompletionOptions, Passage, Prompt } from '../../ports.js';
import { analyzeQuery, analyzeText } from '../../text/list-terms.js';
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
  const pieces = renderAnswer(await extractSentences(prompt), prompt.passages, findMore);
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
    ...cited.map(
      (passage) =>
        `\n[${numberOf(passage)}] document ${passage.documentId}, chunk ${String(passage.chunkNumber)}`,
    ),
  ];
}

async function countPrompt({ question, passages }: Prompt): Promise<number> {
  return countLongText([...passages.map(({ text }) => text), question].join('\n'), countTokens);
}

interface Extract {
  readonly sentence: string;
  readonly passage: Passage;
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

/** Shorter sentences score higher, down to this many terms. Questions, which are mostly headings, do not answer questions. */
const MIN_LENGTH = 8;
const QUESTION_PENALTY = 0.25;
const PASSAGE_SHARE = 0.2;

function scoreSentences(passage: Passage, passageScore: number, weights: Weights): Candidate[] {
  return splitSentences(passage.text).flatMap((sentence) => {
    const terms = analyzeText(sentence);
    const covered = coverage(terms, weights);
    if (covered === 0) return [];
    const length = Math.max(MIN_LENGTH, terms.length);
    const penalty = /[?？؟]["'”’)]*$/u.test(sentence) ? QUESTION_PENALTY : 1;
    const score = (penalty * (covered + PASSAGE_SHARE * passageScore)) / (1 + length / 60);
    return [{ sentence, passage, score }];
  });
}

function chooseSentences(candidates: readonly Candidate[]): Extract[] {
  const [best] = candidates;
  if (!best) return [];
  const chosen = new Map<string, Extract>();
  for (const { sentence, passage, score } of candidates) {
    if (chosen.size >= MAX_SENTENCES || score < best.score * MIN_SHARE) break;
    // Neighbouring chunks repeat text, and so sentences.
    if (!chosen.has(sentence)) chosen.set(sentence, { sentence, passage });
  }
  return [...chosen.values()];
}

function openings(passages: readonly Passage[]): Extract[] {
  const [passage] = passages;
  if (!passage) return [];
  const [sentence] = splitSentences(passage.text);
  return sentence === undefined ? [] : [{ sentence, passage }];
}

/** Longer sentences are tables or lists without full stops. They are cut at a blank. */
const MAX_SENTENCE_LENGTH = 400;
const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/**
 * Splits a text in any language into sentences (UAX #29), trimmed. A line also ends
 * one when a blank line or a list item follows.
 */
function splitSentences(text: string): string[] {
  return splitBlocks(text)
    .flatMap((block) => [...segmenter.segment(block.replace(/\s+/gu, ' '))])
    .flatMap(({ segment }) => cutLong(segment.trim()))
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
}

/** A line that begins a list item, a heading or a row of a table. */
const ITEM = /^\s*(?:[-*•#|]|\d+[.)])(?:\s|$)/u;

/** Splits line by line, since a pattern over the whole text would read a run of line ends again from each of them. */
function splitBlocks(text: string): string[] {
  const blocks: string[][] = [[]];
  for (const line of text.split('\n')) {
    const isBlank = line.trim() === '';
    if (isBlank || ITEM.test(line)) blocks.push([]);
    if (!isBlank) blocks.at(-1)?.push(line);
  }
  return blocks.map((lines) => lines.join('\n'));
}

function cutLong(sentence: string): string[] {
  const pieces: string[] = [];
  let rest = sentence;
  while (rest.length > MAX_SENTENCE_LENGTH) {
    const blank = rest.lastIndexOf(' ', MAX_SENTENCE_LENGTH);
    const end = blank > MAX_SENTENCE_LENGTH / 2 ? blank : wholePair(rest, MAX_SENTENCE_LENGTH);
    pieces.push(rest.slice(0, end).trim());
    rest = rest.slice(end).trim();
  }
  return [...pieces, rest];
}

function wholePair(text: string, end: number): number {
  return /[\ud800-\udbff]/.test(text.charAt(end - 1)) ? end - 1 : end;
}
