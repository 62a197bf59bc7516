/** Reads a stream of events to its end. */
export async function collect<Event extends { readonly type: string }>(stream: AsyncIterable<Event>) {
  const events: Event[] = [];
  for await (const event of stream) events.push(event);
  const texts = events.filter(isText<Event>).map(({ text }) => text);
  const ends = events.filter(isEnd<Event>);
  const [end] = ends;
  if (!end || ends.length > 1) throw new Error(`a stream with ${String(ends.length)} ends`);
  return { events, texts, text: texts.join(''), end };
}

function isText<Event extends { readonly type: string }>(
  event: Event,
): event is Extract<Event, { type: 'text' }> & { text: string } {
  return event.type === 'text' && 'text' in event && typeof event.text === 'string';
}

function isEnd<Event extends { readonly type: string }>(
  event: Event,
): event is Extract<Event, { type: 'end' }> {
  return event.type === 'end';
}
