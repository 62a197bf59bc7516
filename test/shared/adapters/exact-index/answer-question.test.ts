import { expect, test } from '@jest/globals';
import { createAnswerQuestion } from '../../../../src/shared/adapters/exact-index/answer-question.js';
import type { Head } from '../../../../src/shared/adapters/exact-index/mirror/client.js';
import { createMissingList } from '../../../../src/shared/adapters/exact-index/mirror/chunk-load.js';
import { loadMirror } from '../../../../src/shared/adapters/exact-index/mirror/mirror.js';
import { createSlices } from '../../../../src/index/masks/slices.js';

const createMirror = await loadMirror();
const HEAD: Head = { epoch: 'data set', sequence: 7 };

/** Answers of a mirror that has seen all changes and expects none, and how often it asked whether there are more. */
function open({ runId = 'server', head = HEAD }: { runId?: string; head?: Head | null } = {}) {
  const missing = createMissingList();
  let asked = 0;
  const answerQuestion = createAnswerQuestion({
    mirror: createMirror({ held: 'of-terms', onDirty: () => undefined }),
    follower: { missing: missing.all, head },
    slices: createSlices(),
    catchUp: () => {
      asked += 1;
      return Promise.resolve();
    },
    isQuiet: () => true,
    runId: () => runId,
    requireLoaded: () => undefined,
  });
  const question = {
    type: 'words',
    principal: { id: 'alice' },
    filter: null,
    query: 'heron',
    minScore: 0,
    limit: 10,
    enough: 10,
    mayBeUnconfirmed: true,
  } as const;
  const stateOf = async () => {
    const answer = await answerQuestion({ question, hasWaited: false, isWanted: () => true });
    return { state: answer?.type === 'candidates' ? answer.state : undefined, asked };
  };
  return { missing, stateOf };
}

test('a question is answered without asking Redis, with the state that was seen', async () => {
  expect(await open().stateOf()).toEqual({ state: { server: 'server', ...HEAD }, asked: 0 });
});

test('while published chunks are loaded, or it is not known what was seen, Redis is asked', async () => {
  const { missing, stateOf } = open();
  const end = missing.add('a document', () => 1_000);
  expect(await stateOf()).toEqual({ state: null, asked: 1 });
  end();
  expect(await stateOf()).toEqual({ state: { server: 'server', ...HEAD }, asked: 1 });
  for (const unknown of [open({ runId: '' }), open({ head: null })])
    expect(await unknown.stateOf()).toEqual({ state: null, asked: 1 });
});
