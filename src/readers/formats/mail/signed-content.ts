/** The object identifier of signed data, 1.2.840.113549.1.7.2, as it is written. */
const SIGNED_DATA = '2a864886f70d010702';
const OBJECT_IDENTIFIER = 0x06;
const OCTET_STRING = 0x04;
const CONSTRUCTED = 0x20;
const MAX_DEPTH = 16;

interface Element {
  readonly tag: number;
  readonly start: number;
  readonly end: number;
  /** The start of the next element. */
  readonly next: number;
}

/**
 * Returns the content that an opaque S/MIME signature signs (RFC 8551, RFC 5652), so that it can be read without a check of
 * who has signed it; null when it is encrypted or something else.
 */
export function signedContent(bytes: Uint8Array): Uint8Array | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [contentType, explicit] = childrenAt(buffer, elementAt(buffer, 0));
  if (!contentType || !explicit || contentType.tag !== OBJECT_IDENTIFIER) return null;
  if (buffer.toString('hex', contentType.start, contentType.end) !== SIGNED_DATA) return null;
  const [signedData] = childrenAt(buffer, explicit);
  const [, , encapsulated] = childrenAt(buffer, signedData);
  const [, wrapped] = childrenAt(buffer, encapsulated);
  const [content] = childrenAt(buffer, wrapped);
  if (!content || (content.tag & ~CONSTRUCTED) !== OCTET_STRING) return null;
  return Buffer.concat([...octets(buffer, content, 0)]);
}

/** The pieces of a string of bytes, which may be divided. */
function* octets(buffer: Buffer, { tag, start, end }: Element, depth: number): Iterable<Buffer> {
  if ((tag & CONSTRUCTED) === 0) {
    yield buffer.subarray(start, end);
    return;
  }
  if (depth > MAX_DEPTH) return;
  for (let at = start; at < end;) {
    const piece = elementAt(buffer, at, depth);
    if (!piece) return;
    yield* octets(buffer, piece, depth + 1);
    at = piece.next;
  }
}

/** The first four elements within another one. */
function childrenAt(buffer: Buffer, parent: Element | undefined): Element[] {
  const children: Element[] = [];
  if (!parent || (parent.tag & CONSTRUCTED) === 0) return children;
  for (let at = parent.start; at < parent.end && children.length < 4;) {
    const child = elementAt(buffer, at);
    if (!child) break;
    children.push(child);
    at = child.next;
  }
  return children;
}

/** Reads the head of an element in BER (X.690); undefined when it does not fit into the bytes. */
function elementAt(buffer: Buffer, at: number, depth = 0): Element | undefined {
  const tag = buffer[at];
  const first = buffer[at + 1];
  if (tag === undefined || first === undefined || depth > MAX_DEPTH) return undefined;
  if (first === 0x80) return endlessElement(buffer, { tag, start: at + 2, depth });
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  const start = at + 2 + lengthBytes;
  if (lengthBytes > 4 || start > buffer.length) return undefined;
  const length = lengthBytes === 0 ? first : buffer.readUIntBE(at + 2, lengthBytes);
  const end = Math.min(start + length, buffer.length);
  return { tag, start, end, next: end };
}

/** An element without a length ends with two zeros after its children. */
function endlessElement(
  buffer: Buffer,
  { tag, start, depth }: { tag: number; start: number; depth: number },
): Element | undefined {
  let at = start;
  while (at + 1 < buffer.length && (buffer[at] !== 0 || buffer[at + 1] !== 0)) {
    const child = elementAt(buffer, at, depth + 1);
    if (!child) return undefined;
    at = child.next;
  }
  return { tag, start, end: at, next: at + 2 };
}
