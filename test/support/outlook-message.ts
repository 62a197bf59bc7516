import burner from '@kenjiuno/msgreader/lib/Burner.js';
import reader from '@kenjiuno/msgreader/lib/Reader.js';

const { ROOT, DIRECTORY: STORAGE, DOCUMENT: STREAM } = reader.TypeEnum;

interface OutlookMessage {
  readonly subject?: string;
  readonly body?: string;
  readonly html?: string;
  readonly rtf?: Uint8Array;
  readonly messageClass?: string;
  readonly sender?: readonly [name: string, address: string];
  readonly to?: readonly (readonly [name: string, address: string])[];
  readonly files?: readonly { readonly name: string; readonly type: string; readonly bytes: Uint8Array }[];
  readonly messages?: readonly OutlookMessage[];
  /** More streams, by their names. */
  readonly streams?: Readonly<Record<string, Uint8Array>>;
}

interface Entry {
  readonly name: string;
  readonly type: reader.TypeEnum;
  readonly children: number[];
  readonly length: number;
  readonly binaryProvider?: () => Uint8Array;
}

/** Writes a message as Outlook saves it: a compound file with a stream for each property. */
export function outlookMessage(message: OutlookMessage): Uint8Array {
  const entries: Entry[] = [{ name: 'Root Entry', type: ROOT, children: [], length: 0 }];
  writeMessage(entries, 0, message);
  return Buffer.from(burner.burn(entries));
}

function writeMessage(entries: Entry[], parent: number, message: OutlookMessage): void {
  const put = (tag: string, bytes: Uint8Array): void => {
    addEntry(entries, parent, { name: `__substg1.0_${tag}`, bytes });
  };
  const wide = (tag: string, text: string | undefined): void => {
    if (text !== undefined) put(tag, Buffer.from(text, 'utf16le'));
  };
  wide('001A001F', message.messageClass ?? 'IPM.Note');
  wide('0037001F', message.subject);
  wide('0C1A001F', message.sender?.[0]);
  wide('5D01001F', message.sender?.[1]);
  wide('1000001F', message.body);
  if (message.html !== undefined) put('10130102', Buffer.from(message.html));
  if (message.rtf) put('10090102', message.rtf);
  for (const [name, bytes] of Object.entries(message.streams ?? {}))
    addEntry(entries, parent, { name, bytes });
  for (const [index, [name, address]] of (message.to ?? []).entries()) {
    const storage = addStorage(entries, parent, `__recip_version1.0_#${number(index)}`);
    addEntry(entries, storage, { name: '__substg1.0_3001001F', bytes: Buffer.from(name, 'utf16le') });
    addEntry(entries, storage, { name: '__substg1.0_39FE001F', bytes: Buffer.from(address, 'utf16le') });
    addEntry(entries, storage, { name: '__properties_version1.0', bytes: recipientType(1) });
  }
  const files = (message.files ?? []).map((file) => ({ file, inner: undefined }));
  const messages = (message.messages ?? []).map((inner) => ({ file: undefined, inner }));
  for (const [index, { file, inner }] of [...files, ...messages].entries()) {
    const storage = addStorage(entries, parent, `__attach_version1.0_#${number(index)}`);
    if (file) writeFile(entries, storage, file);
    if (inner) writeMessage(entries, addStorage(entries, storage, '__substg1.0_3701000D'), inner);
  }
}

function writeFile(
  entries: Entry[],
  storage: number,
  { name, type, bytes }: { name: string; type: string; bytes: Uint8Array },
): void {
  addEntry(entries, storage, { name: '__substg1.0_3707001F', bytes: Buffer.from(name, 'utf16le') });
  addEntry(entries, storage, { name: '__substg1.0_370E001F', bytes: Buffer.from(type, 'utf16le') });
  addEntry(entries, storage, { name: '__substg1.0_37010102', bytes });
}

const number = (index: number): string => index.toString(16).toUpperCase().padStart(8, '0');

function addEntry(
  entries: Entry[],
  parent: number,
  { name, bytes }: { name: string; bytes: Uint8Array },
): void {
  entries[parent]?.children.push(entries.length);
  entries.push({
    name,
    type: STREAM,
    children: [],
    length: bytes.length,
    binaryProvider: () => Uint8Array.from(bytes),
  });
}

function addStorage(entries: Entry[], parent: number, name: string): number {
  entries[parent]?.children.push(entries.length);
  return entries.push({ name, type: STORAGE, children: [], length: 0 }) - 1;
}

/** The property stream of a recipient: who gets the message (1), or a copy (2). */
function recipientType(type: number): Uint8Array {
  const bytes = Buffer.alloc(8 + 16);
  bytes.writeUInt32LE(0x0c15_0003, 8);
  bytes.writeUInt32LE(type, 16);
  return bytes;
}
