import { decodeText } from '../../encoding/decode-text.js';

/** An encoded word (RFC 2047), with the language that RFC 2231 allows behind its charset. */
const WORD = /=\?([^?\s*]{1,60})(?:\*[^?\s]{0,40})?\?([QqBb])\?([^?]*)\?=/g;
const WHOLE_BASE64 = /^(?:.{4})*$|=$/s;

interface Word {
  readonly charset: string;
  readonly isBase64: boolean;
  readonly content: string;
}

/** A header without encoded words. Those that stand side by side in one charset are decoded together: they may share a character. */
export const decodeWords = (header: string): string => replaceWords(header, decodeRun);

/** A header whose encoded words are all in UTF-8, for a parser that must see where they begin and end. */
export const wordsInUtf8 = (header: string): string =>
  replaceWords(header, (run) => `=?utf-8?B?${Buffer.from(decodeRun(run)).toString('base64')}?=`);

/** Replaces each run of encoded words between which there are only blanks, which are no part of the text. */
function replaceWords(header: string, replace: (run: readonly Word[]) => string): string {
  let text = '';
  let run: Word[] = [];
  let end = 0;
  for (const { 0: whole, 1: charset = '', 2: kind, 3: content = '', index } of header.matchAll(WORD)) {
    const between = header.slice(end, index);
    if (run.length > 0 && between.trim() !== '') {
      text += replace(run);
      run = [];
    }
    if (run.length === 0) text += between;
    run.push({ charset: charset.toLowerCase(), isBase64: kind?.toLowerCase() === 'b', content });
    end = index + whole.length;
  }
  if (run.length > 0) text += replace(run);
  return text + header.slice(end);
}

function decodeRun(run: readonly Word[]): string {
  let text = '';
  let bytes: Buffer[] = [];
  let base64 = '';
  for (const [index, { charset, isBase64, content }] of run.entries()) {
    const next = run[index + 1];
    const isGoingOn = next?.charset === charset;
    if (isBase64) base64 += content.replace(/[^a-z0-9+/=]/gi, '');
    else bytes.push(quotedBytes(content));
    // A word that ends within a group of Base64 goes on in the next one.
    const isOpen = isGoingOn && next.isBase64 && !WHOLE_BASE64.test(base64);
    if (isBase64 && !isOpen) {
      bytes.push(Buffer.from(base64, 'base64'));
      base64 = '';
    }
    if (isGoingOn) continue;
    text += decodeText(Buffer.concat(bytes), { declared: charset });
    bytes = [];
  }
  return text;
}

/** The bytes of a word in encoding Q, whose blanks are written as underscores. */
const quotedBytes = (content: string): Buffer =>
  Buffer.from(
    Buffer.from(content.replaceAll('_', ' '))
      .toString('latin1')
      .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    'latin1',
  );
