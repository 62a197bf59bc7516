import { at } from '../at.js';
import { stateSchema, type DocumentState } from '../document.js';
import { MalformedRecordError } from '../errors.js';
import { defineScript, type Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { absentIfMalformed, type OnMalformed } from './record-fields.js';

/** Documents that one step reads, which takes Redis about half a millisecond. */
const READ_AT_ONCE = 500;

const readScript = defineScript<(string | null)[]>(`local states = {}
for i, record in ipairs(KEYS) do
  local fields = redis.call('HMGET', record, 'status', 'retag')
  states[i] = fields[1] and '{"status":' .. fields[1] .. ',"retag":' .. (fields[2] or '0') .. '}'
end
return states`);

/** Reads the states of documents, in the order of their ids; null for one that does not exist. */
export async function readStates(
  redis: Redis,
  ids: readonly string[],
  onMalformed: OnMalformed,
): Promise<(DocumentState | null)[]> {
  const pages = Array.from({ length: Math.ceil(ids.length / READ_AT_ONCE) }, (_, page) =>
    readScript.run(redis, {
      keys: ids.slice(page * READ_AT_ONCE, (page + 1) * READ_AT_ONCE).map(keys.document),
      arguments: [],
    }),
  );
  const texts = (await Promise.all(pages)).flat();
  return ids.map((id, i) => {
    try {
      return parseState(at(texts, i));
    } catch (error) {
      return absentIfMalformed(id, onMalformed)(error);
    }
  });
}

function parseState(text: string | null): DocumentState | null {
  try {
    return text === null ? null : stateSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new MalformedRecordError('the state of a document cannot be read', { cause: error });
  }
}

/** Returns the documents whose ingest has ended, or that do not exist. */
export async function findFinished(redis: Redis, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const callers = await redis.hmGet(keys.ingests, [...ids]);
  return ids.filter((_, i) => callers[i] === null);
}
