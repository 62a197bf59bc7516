import { receiptOfPart } from '../../../receipt/receipt-of-part.js';
import type { Block } from '../../../blocks/block.js';
import { calendarBlocks } from '../../calendar/calendar-blocks.js';
import { createHtmlReader } from '../../html/read-html.js';
import type { ReadContext } from '../../../parser.js';
import { createSignReader } from '../../signs/sign-reader.js';
import { parseRtf } from '../../rtf/rtf.js';
import { createHiddenCounter } from '../../visibility/hidden-counter.js';
import type { MailBody } from '../message.js';
import { formsToRead } from './alternatives.js';

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
