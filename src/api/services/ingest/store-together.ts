import { at } from '../../../shared/at.js';
import { tracePlace, withinTraces, type TracePlace } from '../../../shared/tracing/tracing.js';
import type { RequestContext } from '../request-context.js';
import {
  MAX_GROUP,
  storeRecords,
  type NewDocument,
  type Stored,
  type StoreRecordsParts,
  type Storing,
} from './store-records.js';

/** A document of a request of its own. */
interface SingleDocument extends Storing {
  readonly document: NewDocument;
  readonly context: Pick<RequestContext, 'callerId' | 'requestId' | 'waitSeconds'>;
}

/** See `storeRecords`. */
export type StoreTogether = (single: SingleDocument) => Promise<Stored>;

interface Waiting extends SingleDocument {
  readonly trace: TracePlace | null;
  readonly resolve: (stored: Stored) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Stores new documents of single requests. Short texts of one caller that arrive together are stored in one step and with
 * one job, as databases commit in groups: while one step is under way, the texts that follow gather for the next. Nothing
 * waits when none is under way.
 */
export function createStoreTogether(parts: StoreRecordsParts): StoreTogether {
  const gathering: Gathering = new Map();
  return async (single) => {
    if (!mayShare(single.document)) return at(await storeRecords(parts, [single.document], single), 0);
    return new Promise((resolve, reject) => {
      const key = keyOf(single.context);
      const waiting = gathering.get(key);
      const each = { ...single, trace: tracePlace(), resolve, reject };
      if (waiting) waiting.push(each);
      else {
        gathering.set(key, [each]);
        void storeAll(parts, gathering, key);
      }
    });
  };
}

/** Tells whether a document is a short text to whose record nothing else is bound. All others have a step of their own. */
const mayShare = ({ source, onlyNewContent, reservation }: NewDocument): boolean =>
  source !== undefined && onlyNewContent !== true && reservation === undefined;

/** Texts that gather for the next step, by the key of texts that may share one. There is an entry while a step is under way. */
type Gathering = Map<string, Waiting[]>;

/** Callers who wait for their documents go before all others, so that the two never share a job. */
const keyOf = ({ callerId, waitSeconds }: SingleDocument['context']): string =>
  `${waitSeconds === 0 ? 'patient' : 'waiting'}:${callerId}`;

/** Stores the texts of a key, group by group, until none is left. Never rejects. */
async function storeAll(parts: StoreRecordsParts, gathering: Gathering, key: string): Promise<void> {
  for (let waiting = gathering.get(key); waiting && waiting.length > 0; waiting = gathering.get(key)) {
    const texts = waiting.splice(0, MAX_GROUP);
    try {
      const traces = texts.map(({ trace }) => trace);
      await withinTraces(traces, () => storeGroup(parts, texts));
    } catch (error) {
      // Each of them hears of it, and the texts that follow are stored. Rejecting a settled promise does nothing.
      for (const { reject } of texts) reject(error);
    }
  }
  gathering.delete(key);
}

async function storeGroup(parts: StoreRecordsParts, texts: readonly Waiting[]): Promise<void> {
  const byId = new Map(texts.map((each) => [each.document.record.id, each]));
  const stored = await storeRecords(
    parts,
    texts.map(({ document }) => document),
    {
      context: at(texts, 0).context,
      onWritten: (records) => {
        for (const record of records) byId.get(record.id)?.onWritten([record]);
      },
    },
  );
  for (const [i, { resolve }] of texts.entries()) resolve(at(stored, i));
}
