import { describe, expect, test } from '@jest/globals';
import type { Carried, DocumentRecord } from '../../../../src/shared/document.js';
import {
  endRemovals,
  endWaiting,
  hasAttachmentWork,
  isAwaited,
  noteCarried,
  replaceAttachments,
  retryMissed,
  stopWaiting,
  takeBackAttachments,
} from '../../../../src/shared/documents/attachments/attachment-changes.js';
import { makeContent, makeDocument, makeOperation } from '../../../support/documents.js';

const carrying = (changes: Partial<Carried> = {}): Carried => ({
  ids: ['a', 'b'],
  waiting: [],
  missed: [],
  callerId: 'owner',
  ...changes,
});
const contentWith = (carried?: Partial<Carried>, changes: Parameters<typeof makeContent>[0] = {}) =>
  makeContent({ ...changes, ...(carried ? { carried: carrying(carried) } : {}) });
/** A document whose published content carries files. */
const published = (carried: Partial<Carried>, changes: Partial<DocumentRecord> = {}) =>
  makeDocument({ published: contentWith(carried, { storageKey: 's/1' }), pending: null, ...changes });
const removal = (id: string, callerId = 'owner') => ({ id, callerId });

describe('what the pending content carries', () => {
  test('is noted with who asked for it, beside the documents of former contents, each once', () => {
    const record = makeDocument({
      attachments: ['a', 'old'],
      operation: makeOperation({ userId: 'ann' }),
    });
    const noted = noteCarried(record, { ids: ['a', 'b'], waiting: ['b'] })?.record;
    expect(noted?.attachments).toEqual(['a', 'old', 'b']);
    expect(noted?.pending).toEqual({
      ...makeContent(),
      carried: { ids: ['a', 'b'], waiting: ['b'], missed: [], callerId: 'ann' },
    });
    expect(noteCarried(makeDocument(), { ids: ['a'], waiting: [] })?.record?.attachments).toEqual(['a']);
  });

  test('is not noted once nothing is pending', () => {
    expect(noteCarried(published({}), { ids: ['a'], waiting: [] })).toBeNull();
  });
});

describe('a publication', () => {
  test('has documents of former contents removed by the right of who asked for it, and its own ones stay', () => {
    const record = makeDocument({
      attachments: ['old', 'a', 'leaving'],
      pending: contentWith({ ids: ['a'] }),
      operation: makeOperation({ userId: 'ann' }),
      replacedAttachments: { removals: [removal('leaving', 'bob'), removal('a', 'bob')], kept: ['kept'] },
    });
    expect(replaceAttachments(record)).toEqual({
      replacedAttachments: {
        removals: [removal('leaving', 'bob'), removal('old', 'ann')],
        kept: ['kept'],
      },
    });
  });

  test('forgets those that stayed of a content that was published before', () => {
    const record = published(
      {},
      { pending: contentWith(), replacedAttachments: { removals: [removal('x')], kept: ['kept'] } },
    );
    expect(replaceAttachments(record)).toEqual({
      replacedAttachments: { removals: [removal('x')], kept: [] },
    });
  });

  test('leaves no list behind where nothing is to be removed, and makes none where there was none', () => {
    const done = published({}, { replacedAttachments: { removals: [], kept: ['kept'] } });
    expect(replaceAttachments(done)).toEqual({ replacedAttachments: null });
    expect(replaceAttachments(makeDocument())).toEqual({});
    const stayed = makeDocument({ replacedAttachments: { removals: [], kept: ['kept'] } });
    expect(replaceAttachments(stayed)).toEqual({ replacedAttachments: { removals: [], kept: ['kept'] } });
  });
});

describe('a content that is taken back before it is published', () => {
  test('has what was made of it removed by the right of who ended it, and is read again under other ids', () => {
    const record = makeDocument({
      pending: contentWith({ ids: ['a', 'b'] }, { carriedSeries: 2 }),
      replacedAttachments: { removals: [removal('b', 'bob')], kept: ['kept'] },
    });
    const { pending, replacedAttachments } = takeBackAttachments(record, 'ann');
    expect(pending).toEqual(makeContent({ carriedSeries: 3 }));
    expect(replacedAttachments).toEqual({
      removals: [removal('b', 'bob'), removal('a', 'ann')],
      kept: ['kept'],
    });
  });

  test('is counted from 1 on, and nothing changes where it carried nothing', () => {
    const first = takeBackAttachments(makeDocument({ pending: contentWith({ ids: ['a'] }) }), 'ann');
    expect(first.pending?.carriedSeries).toBe(1);
    expect(first.replacedAttachments).toEqual({ removals: [removal('a', 'ann')], kept: [] });
    expect(takeBackAttachments(makeDocument(), 'ann')).toEqual({});
    expect(takeBackAttachments(published({}), 'ann')).toEqual({});
  });
});

describe('removals that have ended', () => {
  const record = makeDocument({
    attachments: ['a', 'b', 'c'],
    replacedAttachments: { removals: [removal('a'), removal('b')], kept: ['b', 'x'] },
  });

  test('come off the record, those that stay are named once, and Redis may be full', () => {
    const change = endRemovals(record, { ended: ['a'], kept: ['x', 'y'] });
    expect(change).toMatchObject({ evenWhenFull: true });
    expect(change?.record?.attachments).toEqual(['b', 'c']);
    expect(change?.record?.replacedAttachments).toEqual({ removals: [removal('b')], kept: ['b', 'x', 'y'] });
  });

  test('change nothing where they are not on the record any more', () => {
    expect(endRemovals(record, { ended: ['c', 'z'], kept: [] })).toBeNull();
    expect(endRemovals(makeDocument(), { ended: ['a'], kept: [] })).toBeNull();
  });

  test('are noted of records of which no attachments and none that stayed are known', () => {
    const bare = makeDocument({ replacedAttachments: { removals: [removal('a')], kept: [] } });
    expect(endRemovals(bare, { ended: ['a'], kept: ['a'] })?.record).toMatchObject({
      attachments: [],
      replacedAttachments: { removals: [], kept: ['a'] },
    });
  });
});

describe('attachments that wait for room', () => {
  const waiting = published({ waiting: ['a', 'b', 'c'], missed: ['m'] }, { revision: 7 });

  test('are awaited until they are made, by the content that carries them alone', () => {
    expect(isAwaited(waiting, 's/1', 'a')).toBe(true);
    expect(isAwaited(waiting, 's/1', 'm')).toBe(false);
    expect(isAwaited(waiting, 's/2', 'a')).toBe(false);
    expect(isAwaited(makeDocument(), 'a/1', 'a')).toBe(false);
    expect(hasAttachmentWork(waiting)).toBe(true);
    expect(hasAttachmentWork(published({}))).toBe(false);
    expect(hasAttachmentWork(makeDocument())).toBe(false);
    const removing = { removals: [removal('a')], kept: [] };
    expect(hasAttachmentWork(makeDocument({ replacedAttachments: removing }))).toBe(true);
  });

  test('that were made wait no more, which is no gap and no reason to write tags anew', () => {
    const record = endWaiting(waiting, { storageKey: 's/1', ended: ['a'], missed: [] })?.record;
    expect(record?.published?.carried).toEqual(carrying({ waiting: ['b', 'c'], missed: ['m'] }));
    expect(record?.published?.gaps).toBeUndefined();
    expect(record?.retag).toBe(0);
  });

  test('that could not be made are gaps, of which the tags of the chunks say how many', () => {
    const change = endWaiting(waiting, { storageKey: 's/1', ended: ['a'], missed: ['b', 'unknown'] });
    expect(change?.record?.published).toMatchObject({
      gaps: 1,
      carried: carrying({ waiting: ['c'], missed: ['m', 'b'] }),
    });
    expect(change?.record?.retag).toBeGreaterThan(7);
    const withGaps = published({ waiting: ['a', 'b'] });
    const { published: content } = withGaps;
    const known = { ...withGaps, published: content && { ...content, gaps: 4 } };
    const both = { storageKey: 's/1', ended: [], missed: ['a', 'b'] };
    expect(endWaiting(known, both)?.record?.published?.gaps).toBe(6);
  });

  test('of another content, or that wait no more, change nothing', () => {
    expect(endWaiting(waiting, { storageKey: 's/2', ended: ['a'], missed: [] })).toBeNull();
    expect(endWaiting(waiting, { storageKey: 's/1', ended: ['z'], missed: ['m'] })).toBeNull();
    expect(endWaiting(makeDocument(), { storageKey: 'a/1', ended: ['a'], missed: [] })).toBeNull();
  });

  test('wait again when what was missed is tried again, and are no gaps then', () => {
    const record = published({ waiting: ['a'], missed: ['m', 'n'] }, { revision: 7 });
    const { published: content } = record;
    const again = retryMissed({ ...record, published: content && { ...content, gaps: 3 } })?.record;
    expect(again?.published).toMatchObject({ gaps: 1, carried: { waiting: ['a', 'm', 'n'], missed: [] } });
    expect(again?.retag).toBeGreaterThan(7);
    expect(retryMissed(record)?.record?.published?.gaps).toBe(0);
    expect(retryMissed(published({ waiting: ['a'] }))).toBeNull();
    expect(retryMissed(makeDocument())).toBeNull();
  });

  test('do not wait once the document is about to be removed, even where Redis is full', () => {
    const change = stopWaiting(waiting);
    expect(change).toMatchObject({ evenWhenFull: true });
    expect(change?.record?.published?.carried).toEqual(carrying({ waiting: [], missed: ['m'] }));
    expect(stopWaiting(published({}))).toBeNull();
    expect(stopWaiting(makeDocument())).toBeNull();
  });
});
