import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Completer, CompletionOptions, Prompt } from '../../src/shared/ports.js';
import { countTokens } from '../../src/shared/text/token-count.js';
import { collect } from '../support/collect.js';

interface CompleterUnderTest {
  readonly completer: Completer;
  stop(): Promise<void>;
}

const prompt: Prompt = {
  question: 'How tall is the lighthouse of Borkum?',
  passages: [
    {
      documentId: 'd1',
      chunkNumber: 0,
      text: 'The new lighthouse of Borkum is 60 metres tall. It was lit in 1879.',
    },
    { documentId: 'd2', chunkNumber: 4, text: 'Ferries to the island leave from Emden twice a day.' },
  ],
};

/** The contract of every completer. */
export function describeCompleter(name: string, create: () => Promise<CompleterUnderTest>): void {
  describe(`completer ${name}`, () => {
    let tested: CompleterUnderTest;
    beforeAll(async () => {
      tested = await create();
    });
    afterAll(() => tested.stop());
    const complete = (asked: Prompt, options?: CompletionOptions) =>
      collect(tested.completer.complete(asked, options));

    test('answers from the passages, as a stream of several texts and one end', async () => {
      const { text, texts, end, events } = await complete(prompt);
      expect(text).toContain('60 metres');
      expect(texts.length).toBeGreaterThan(1);
      expect(texts).not.toContain('');
      expect(events.at(-1)).toBe(end);
      expect(end.finishReason).toBe('stop');
    });

    test('counts the tokens of prompt and completion', async () => {
      const { end } = await complete(prompt);
      const least = prompt.passages.reduce((sum, passage) => sum + countTokens(passage.text), 0);
      expect(end.promptTokens).toBeGreaterThanOrEqual(least);
      expect(end.completionTokens).toBeGreaterThan(0);
    });

    test.each([1, 3, 8])('stops at %d tokens and says so', async (maxTokens) => {
      const { text, end } = await complete(prompt, { maxTokens });
      expect(end.finishReason).toBe('length');
      expect(end.completionTokens).toBeLessThanOrEqual(maxTokens);
      expect(text.length).toBeLessThan((await complete(prompt)).text.length);
    });

    test('says that nothing was found when there are no passages', async () => {
      const { text, end } = await complete({ question: 'Who?', passages: [] });
      expect(text).toMatch(/nothing was found/i);
      expect(end).toMatchObject({ finishReason: 'stop' });
    });

    test('throws for a signal that is aborted already', async () => {
      await expect(complete(prompt, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
    });

    test('stops when its caller leaves the stream', async () => {
      for await (const event of tested.completer.complete(prompt)) {
        expect(event.type).toBe('text');
        break;
      }
      expect((await complete(prompt)).end.finishReason).toBe('stop');
    });
  });
}
