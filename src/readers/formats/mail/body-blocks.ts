import type { Block } from '../../blocks/block.js';
import type { ReadContext } from '../../parser.js';
import { receiptOfPart } from '../../receipt/receipt-writer.js';
import { calendarBlocks } from '../calendar/calendar.js';
import { createHtmlReader } from '../html/read-html.js';
import { parseRtf } from '../rtf/rtf.js';
import { createSignReader } from '../signs/sign-reader.js';
import { createHiddenCounter } from '../visibility/hidden-counter.js';
import type { MailBody } from './message.js';

/** Reads the body of a message: HTML and RTF with their structure and their hidden text, plain text as it is. */
export function* bodyBlocks(body: MailBody, context: ReadContext): Iterable<Block> {
  switch (body.kind) {
    case 'text': {
      const text = body.text.replace(/\r\n?/g, '\n').trim();
      if (text !== '') yield { text: `${text}\n\n` };
      return;
    }
    case 'html':
      yield* htmlBlocks(body.html, context);
      return;
    case 'rtf':
      yield* parseRtf(body.rtf, { ...context, receipt: receiptOfPart(context.receipt) });
      return;
    case 'calendar':
      yield* calendarBlocks(body.text);
      return;
    case 'alternative':
      yield* alternativeBlocks(body, context);
      return;
    case 'parts':
      for (const part of body.parts) yield* bodyBlocks(part, context);
      return;
    case 'encrypted':
    case 'none':
      return;
  }
}

/** Reads one form of a text or both. Findings in a form that is not read are not reported. */
function* alternativeBlocks(
  { plain, rich }: Extract<MailBody, { kind: 'alternative' }>,
  context: ReadContext,
): Iterable<Block> {
  const reports: (() => void)[] = [];
  const receipt = {
    ...context.receipt,
    addGap: (...gap: Parameters<ReadContext['receipt']['addGap']>) =>
      void reports.push(() => context.receipt.addGap(...gap)),
  };
  const plainBlocks = [...bodyBlocks(plain, context)];
  const richBlocks = [...bodyBlocks(rich, { ...context, receipt })];
  const read = formsToRead(textOf(plainBlocks), textOf(richBlocks));
  if (read !== 'rich') yield* plainBlocks;
  if (read === 'plain') return;
  for (const report of reports) report();
  yield* richBlocks;
}

const textOf = (blocks: readonly Block[]): string => blocks.map(({ text }) => text).join('');

function htmlBlocks(markup: string, context: ReadContext): readonly Block[] {
  const hidden = createHiddenCounter(context);
  const signs = createSignReader(context.receipt);
  const html = createHtmlReader({ hidden, signs, hasTitle: false });
  html.write(markup);
  const { blocks } = html.end();
  hidden.report();
  signs.report();
  return blocks;
}

/** Addresses, whose words do not count: HTML hides them behind the text of its links. */
const ADDRESS = /\b(?:https?:\/\/|www\.|mailto:)\S+/gi;
/** In scripts without blanks between words, each character counts as one. */
const WORD =
  /(?=[\p{L}\p{N}])[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]|[\p{L}\p{N}]+/gu;
/** Most characters that are compared. */
const COMPARED = 500_000;

/**
 * A share of words that may differ between two forms of the same text: names of links, marks of lists, the spelling of
 * signs.
 */
const SAME_SHARE = 0.2;
/** Fewer words that differ may be there by chance. */
const FEW_WORDS = 2;
/** A plain text that is this many times shorter than the rich form does not have its content. */
const MUCH_LONGER = 3;
/** A short plain text that names HTML, which the other form does not, says that HTML is needed, in whatever language. */
const NAME_OF_RICH = 'html';
const WORDS_OF_NOTICE = 25;

/**
 * Chooses the forms of a text to read. The plain form: the rich one says hardly anything that it does not. The rich form:
 * the plain one says nothing else, or is so short that it can only point to it. Otherwise both.
 */
function formsToRead(plain: string, rich: string): 'plain' | 'rich' | 'both' {
  const plainWords = wordsOf(plain);
  const richWords = wordsOf(rich);
  if (plainWords.size === 0) return richWords.size === 0 ? 'plain' : 'rich';
  if (!isMuch(missing(richWords, plainWords), richWords.size)) return 'plain';
  const isNotice =
    plainWords.size <= WORDS_OF_NOTICE && plainWords.has(NAME_OF_RICH) && !richWords.has(NAME_OF_RICH);
  const isPointer = isNotice || plainWords.size * MUCH_LONGER <= richWords.size;
  return isPointer || !isMuch(missing(plainWords, richWords), plainWords.size) ? 'rich' : 'both';
}

const isMuch = (count: number, of: number): boolean => count > Math.max(FEW_WORDS, of * SAME_SHARE);

const wordsOf = (text: string): Set<string> =>
  new Set(text.slice(0, COMPARED).replace(ADDRESS, ' ').toLowerCase().match(WORD));

const missing = (words: ReadonlySet<string>, others: ReadonlySet<string>): number =>
  [...words].filter((word) => !others.has(word)).length;
