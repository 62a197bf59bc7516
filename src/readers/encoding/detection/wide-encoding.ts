import { isUtf8 } from 'node:buffer';
import { isControl } from '../control-bytes.js';
import { likeliestWide } from './detect-encoding.js';

const SAMPLE_BYTES = 65_536;
/** Short texts may have this many zeros by chance. */
const FEW_ZEROS = 2;

/**
 * Returns the encoding of bytes that are UTF-16 or UTF-32 without a byte order mark; undefined where nothing indicates
 * them. Their zeros (in East Asian text the zeros of blanks) are all at even or all at odd places. Without zeros, they have
 * control characters or are no UTF-8, and are made of letters of one script.
 */
export function wideEncoding(buffer: Buffer, declared: string | undefined): string | undefined {
  const head = withoutPadding(buffer.subarray(0, SAMPLE_BYTES));
  const { even, odd, controls, lines } = countSigns(head);
  const zeros = even + odd;
  if (zeros > Math.max(FEW_ZEROS, head.length / 100) || zeros * 3 > head.length) {
    if (zeros > head.length * 0.6) return head[0] === 0 ? 'utf-32be' : 'utf-32le';
    return odd >= even ? 'utf-16le' : 'utf-16be';
  }
  if (buffer.length % 2 === 1 || buffer.length === 0) return undefined;
  if (lines > 0 && (even === 0 || odd === 0) && !hasStrayZeros(buffer, head))
    return odd > 0 ? 'utf-16le' : 'utf-16be';
  const hasControls = controls * 20 > head.length;
  const isDeclared = declared !== undefined && /^utf-(?:16|32)/.test(declared);
  if (!hasControls && isUtf8(buffer)) return undefined;
  return likeliestWide(head, { isCertain: hasControls || isDeclared });
}

/** Programs fill files with zeros. Those of the last character are too few to matter. */
function withoutPadding(head: Buffer): Buffer {
  let end = head.length;
  while (end > 0 && head[end - 1] === 0) end -= 1;
  return head.subarray(0, end);
}

function countSigns(head: Buffer): { even: number; odd: number; controls: number; lines: number } {
  const counts = { even: 0, odd: 0, controls: 0, lines: 0 };
  for (const [index, byte] of head.entries()) {
    if (byte === 0) {
      counts[index % 2 === 0 ? 'even' : 'odd'] += 1;
      if (isLineEnd(head[index % 2 === 0 ? index + 1 : index - 1])) counts.lines += 1;
    } else if (byte < 7) counts.controls += 1;
  }
  return counts;
}

/** Tells whether bytes are text but for zeros, of which programs leave one or two in their logs. */
const hasStrayZeros = (buffer: Buffer, head: Buffer): boolean =>
  isUtf8(buffer) && !head.some((byte) => byte !== 0 && isControl(byte));

/** A zero beside it within two bytes is its other half. */
const isLineEnd = (byte: number | undefined): boolean => byte === 0x0a || byte === 0x0d;
