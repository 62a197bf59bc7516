import { factsOf, type FileFormat, formatOf } from '../../readers/index.js';

/** Up to this size, content that takes time by its length alone is read within a second. */
const QUICK_BYTES = 1024 * 1024;

/** Tells whether content of this format and size is read so quickly that it need not wait behind slow content. */
export function isQuick(format: FileFormat, sizeBytes: number): boolean {
  return sizeBytes <= QUICK_BYTES && factsOf(format).isLinear;
}

export interface SourceSize {
  readonly kind: 'text' | 'file';
  readonly contentType: string;
  readonly sizeBytes: number;
}

export function isQuickContent({ kind, contentType, sizeBytes }: SourceSize): boolean {
  const format = kind === 'text' ? 'text' : formatOf(contentType);
  return format !== undefined && isQuick(format, sizeBytes);
}
