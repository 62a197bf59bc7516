import { QuireError } from 'quire-client';

/** The error that a call of the client ends with. */
export async function failureOf(call: Promise<unknown>): Promise<QuireError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof QuireError) return error;
    throw error;
  }
  throw new Error('the call succeeded');
}

export async function allOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
