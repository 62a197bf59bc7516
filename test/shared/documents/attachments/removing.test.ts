import { describe, expect, test } from '@jest/globals';
import type { DocumentRecord } from '../../../../src/shared/document.js';
import {
  removeReplaced,
  removeAttachment,
  removeWithAttachments,
  type ChangeAsWriter,
} from '../../../../src/shared/documents/attachments/remove-with-attachments.js';
import { ForbiddenError, NotFoundError } from '../../../../src/shared/errors.js';
import { makeContent, makeDocument } from '../../../support/documents.js';

/** Documents in memory, of which `mine` may be changed. */
function library(documents: readonly DocumentRecord[], locked: readonly string[] = []) {
  const held = new Map(documents.map((each) => [each.id, each]));
  const order: string[] = [];
  const update = (id: string, transition: Parameters<ChangeAsWriter>[1]) => {
    const record = held.get(id);
    if (!record) return { record: null, changed: false };
    const change = transition(record);
    if (!change) return { record, changed: false };
    if (change.removed) {
      held.delete(id);
      order.push(id);
      return { record: null, changed: true };
    }
    held.set(id, change.record);
    return { record: change.record, changed: true };
  };
  const change: ChangeAsWriter = ({ documentId }, transition) => {
    if (!held.has(documentId)) return Promise.reject(new NotFoundError('none'));
    if (locked.includes(documentId)) return Promise.reject(new ForbiddenError('not yours'));
    return Promise.resolve(update(documentId, transition));
  };
  const records = {
    read: (id: string) => Promise.resolve(held.get(id) ?? null),
    update: (id: string, transition: Parameters<ChangeAsWriter>[1]) =>
      Promise.resolve({ ...update(id, transition), discarded: [] }),
  };
  return { held, order, change, records };
}
const attached = (id: string, parent: string, changes: Partial<DocumentRecord> = {}) =>
  makeDocument({ id, attachmentOf: { documentId: parent, depth: 1 }, ...changes });
const asked = { documentId: 'mail', principal: { id: 'ann' } };

describe('a document that is removed', () => {
  test('takes with it what was made of its attachments, and of theirs, before it goes itself', async () => {
    const { held, order, change } = library([
      makeDocument({ id: 'mail', attachments: ['a', 'b'], status: 'completed' }),
      attached('a', 'mail', { attachments: ['deep'] }),
      attached('b', 'mail'),
      attached('deep', 'a'),
      makeDocument({ id: 'other' }),
    ]);
    await removeWithAttachments(change, asked);
    expect(order).toEqual(['deep', 'a', 'b', 'mail']);
    expect([...held.keys()]).toEqual(['other']);
  });

  test('leaves behind what the caller may not remove, what is gone, and what belongs to another document', async () => {
    const { held, change } = library(
      [
        makeDocument({ id: 'mail', attachments: ['locked', 'gone', 'moved'], status: 'completed' }),
        attached('locked', 'mail'),
        attached('moved', 'elsewhere'),
      ],
      ['locked'],
    );
    await removeWithAttachments(change, asked);
    expect([...held.keys()]).toEqual(['locked', 'moved']);
  });

  test('ends its ingest first, so that nothing more is made of its attachments, which wait no longer', async () => {
    const seen: Partial<DocumentRecord>[] = [];
    const carried = { ids: ['a'], waiting: ['a'], missed: [], callerId: 'ann' };
    const { change, held } = library([
      makeDocument({ id: 'mail', attachments: ['a'], published: makeContent({ carried }) }),
      attached('a', 'mail'),
    ]);
    await removeWithAttachments((removal, transition) => {
      const { documentId } = removal;
      const mail = held.get('mail');
      if (documentId === 'a' && mail) seen.push(mail);
      return change(removal, transition);
    }, asked);
    expect(seen[0]).toMatchObject({ status: 'cancelled', published: { carried: { waiting: [] } } });
  });

  test('takes with it what is noted of attachments while it is removed', async () => {
    const { held, change } = library([
      makeDocument({ id: 'mail', attachments: ['a'], status: 'completed' }),
      attached('a', 'mail'),
      attached('late', 'mail'),
    ]);
    let isNoted = false;
    await removeWithAttachments(async (removal, transition) => {
      const outcome = await change(removal, transition);
      const mail = held.get('mail');
      if (removal.documentId === 'a' && mail && !isNoted) {
        isNoted = true;
        held.set('mail', { ...mail, attachments: ['a', 'late'] });
      }
      return outcome;
    }, asked);
    expect([...held.keys()]).toEqual([]);
  });

  test('fails as it must for who may not remove it, and for one that is not there', async () => {
    const { change } = library([makeDocument({ id: 'mail' })], ['mail']);
    await expect(removeWithAttachments(change, asked)).rejects.toBeInstanceOf(ForbiddenError);
    await expect(removeWithAttachments(change, { ...asked, documentId: 'none' })).rejects.toBeInstanceOf(
      NotFoundError,
    );
    const broken = () => Promise.reject(new Error('broken'));
    await expect(removeAttachment(broken, asked, 'x')).rejects.toThrow('broken');
  });
});

describe('attachments of a content that was replaced', () => {
  const removal = (id: string) => ({ id, callerId: 'ann' });

  test('are removed by the right of who replaced it, and the record says which ones stay', async () => {
    const removals = [removal('a'), removal('locked')];
    const { held, change, records } = library(
      [
        makeDocument({
          id: 'mail',
          attachments: ['a', 'locked', 'new'],
          replacedAttachments: { removals, kept: [] },
        }),
        attached('a', 'mail'),
        attached('locked', 'mail'),
        attached('new', 'mail'),
      ],
      ['locked'],
    );
    expect(await removeReplaced(records, change, 'mail')).toBe(true);
    expect([...held.keys()].sort()).toEqual(['locked', 'mail', 'new']);
    expect(held.get('mail')).toMatchObject({
      attachments: ['new'],
      replacedAttachments: { removals: [], kept: ['locked'] },
    });
    expect(await removeReplaced(records, change, 'mail')).toBe(false);
  });

  test('are none of a document that is gone or that has replaced nothing', async () => {
    const { change, records } = library([makeDocument({ id: 'mail' })]);
    expect(await removeReplaced(records, change, 'mail')).toBe(false);
    expect(await removeReplaced(records, change, 'gone')).toBe(false);
  });
});
