import { createHiddenTextWriter } from '../../../extraction/hidden-text.js';
import { receiptOfPart } from '../../../extraction/receipt-of-part.js';
import type { Block } from '../../../extraction/block.js';
import { createHtmlReader } from '../../html/read-html.js';
import type { ParseContext } from '../../parser.js';
import { parseRtf } from '../../rtf/rtf.js';
import type { MailBody } from '../message.js';

/** Reads the body of a message: HTML and RTF with their structure and what nobody sees of them, text as it is. */
export function* bodyBlocks(body: MailBody, context: ParseContext): Iterable<Block> {
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
    case 'encrypted':
    case 'none':
      return;
  }
}

function htmlBlocks(markup: string, { options, receipt }: ParseContext): readonly Block[] {
  const hidden = createHiddenTextWriter({ hiddenText: options.hiddenText, receipt });
  const html = createHtmlReader({ hidden, hasTitle: false });
  html.write(markup);
  const { blocks } = html.end();
  hidden.report();
  return blocks;
}
