/** One server-sent event (HTML standard, section 9.2). */
interface ServerSentEvent {
  /** `message` where the event has no name. */
  readonly name: string;
  readonly data: string;
}

/** Reads the events of an answer one by one. A reader that stops ends the request. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  let name = 'message';
  let data: string[] = [];
  for await (const line of readLines(body)) {
    if (line === '') {
      if (data.length > 0) yield { name, data: data.join('\n') };
      name = 'message';
      data = [];
      continue;
    }
    const value = line.replace(/^\w+: ?/, '');
    if (line.startsWith('event:')) name = value;
    if (line.startsWith('data:')) data.push(value);
  }
}

/** The lines of a text, without their ends. What follows the last end is no whole line. */
async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8');
  let rest = '';
  for await (const bytes of readChunks(body)) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line;
  }
}

/** A stream piece by piece: not all browsers let streams be iterated. */
export async function* readChunks(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let isOver = false;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
    isOver = true;
  } finally {
    // A stream that failed refuses to be cancelled, with the failure that its reader has got already.
    if (!isOver) await reader.cancel().catch(() => undefined);
  }
}
