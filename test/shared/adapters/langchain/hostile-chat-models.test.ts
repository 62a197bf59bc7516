import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { createCompleterOver, type ChatModel } from '../../../../src/shared/adapters/langchain/completer.js';
import { UnavailableError } from '../../../../src/shared/errors.js';
import { countTokens } from '../../../../src/shared/text/token-count.js';
import {
  AnyChatModel,
  usage,
  WholeChatModel,
  type Answer,
  type Told,
} from '../../../support/any-chat-model.js';
import { collect } from '../../../support/collect.js';
import { printed } from '../../../support/langchain.js';
import { rejection } from '../../../support/rejection.js';
import { until } from '../../../support/until.js';

const prompt = { question: 'Which?', passages: [{ documentId: 'd', chunkNumber: 0, text: 'A passage.' }] };

function completerOver(model: ChatModel, options: { readonly timeoutMilliseconds?: number } = {}) {
  const common = { name: 'any', contextWindow: 1_024, tellsReason: false, timeoutMilliseconds: 30_000 };
  return createCompleterOver(() => model, { ...common, ...options });
}
const complete = (answer: Answer) => collect(completerOver(new AnyChatModel(answer)).complete(prompt));

async function* messages(...all: Told[]) {
  await sleep(0);
  yield* all;
}

describe('the messages of a stream', () => {
  test('may be texts, or lists of parts of which some are texts', async () => {
    const { texts } = await complete(() =>
      messages(
        'plain ',
        {
          content: [
            { type: 'text', text: 'part ' },
            { type: 'text', text: 'and part ' },
          ],
        },
        { content: [{ type: 'thinking', thinking: 'secret thoughts' }] },
        { content: [{ type: 'reasoning', text: 'secret reasons' }] },
        { content: [{ type: 'image_url', image_url: 'data:image/png;base64,AA' }] },
        { content: [{ type: 'text', text: 'end', index: 0 }] },
        '',
      ),
    );
    expect(texts).toEqual(['plain ', 'part and part ', 'end']);
  });

  test('add up what they tell of tokens', async () => {
    const first = usage(25, 1);
    const cached = { ...first.usage_metadata, input_token_details: { cache_read: 20 } };
    const { end } = await complete(() =>
      messages({ content: '', usage_metadata: cached }, 'text', { content: '', ...usage(0, 14) }),
    );
    expect(end).toEqual({
      type: 'end',
      finishReason: 'stop',
      promptTokens: 25,
      completionTokens: 15,
      promptTokensReused: 20,
    });
  });

  test('that tell no tokens, or none at all, are counted', async () => {
    for (const told of [{}, usage(0, 0), usage(NaN, -1)]) {
      const { end } = await complete(() => messages('Foxes and geese', { content: '', ...told }));
      expect(end.completionTokens).toBe(countTokens('Foxes and geese'));
      expect(end.promptTokens).toBeGreaterThan(50);
    }
  });

  test.each([
    ['OpenAI', { response_metadata: { finish_reason: 'length' } }],
    ['Anthropic', { additional_kwargs: { stop_reason: 'max_tokens' } }],
    ['Bedrock', { response_metadata: { messageStop: { stopReason: 'max_tokens' } } }],
    ['Google', { response_metadata: { finishReason: 'MAX_TOKENS' } }],
    ['Mistral', { response_metadata: { finishReason: 'model_length' } }],
    ['Ollama', { response_metadata: { done: true, done_reason: 'length' } }],
    ['Cohere', { response_metadata: { eventType: 'stream-end', finishReason: 'MAX_TOKENS' } }],
    [
      'Responses of OpenAI',
      { response_metadata: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } } },
    ],
  ])('tell that they were cut, as %s does', async (_name, fields) => {
    const { end } = await complete(() => messages('some', { content: '', ...fields }));
    expect(end.finishReason).toBe('length');
  });

  test.each([
    ['OpenAI', { response_metadata: { finish_reason: 'stop' } }],
    ['Anthropic', { additional_kwargs: { stop_reason: 'end_turn' } }],
    ['Bedrock', { response_metadata: { messageStop: { stopReason: 'end_turn' } } }],
    ['Google', { response_metadata: { finishReason: 'STOP' } }],
    ['Ollama', { response_metadata: { done: true, done_reason: 'stop' } }],
    ['Cohere', { response_metadata: { finishReason: 'COMPLETE' } }],
    ['Responses of OpenAI', { response_metadata: { status: 'completed', incomplete_details: null } }],
    ['nobody', {}],
  ])('tell that they are whole, as %s does', async (_name, fields) => {
    const { end } = await complete(() => messages('some', { content: '', ...fields }));
    expect(end.finishReason).toBe('stop');
  });

  test('may be one, of a class that does not stream', async () => {
    const { texts, end } = await collect(
      completerOver(new WholeChatModel(() => messages())).complete(prompt),
    );
    expect(texts).toEqual(['all at once']);
    expect(end).toMatchObject({ finishReason: 'length', promptTokens: 7, completionTokens: 3 });
  });

  test('without a reason broke off, once the class has told one', async () => {
    const told = { content: '', response_metadata: { finish_reason: 'stop' } };
    const answers = [messages('no reason'), messages('whole', told), messages('broken')];
    const completer = completerOver(new AnyChatModel(() => answers.shift() ?? messages()));
    expect((await collect(completer.complete(prompt))).end.finishReason).toBe('stop');
    expect((await collect(completer.complete(prompt))).end.finishReason).toBe('stop');
    expect(printed(await rejection(collect(completer.complete(prompt))))).toContain('broke off');
  });

  test.each([null, 'text', 7, {}, { content: 7 }])('are an error where they are none: %j', async (value) => {
    const strange: ChatModel = {
      stream: () =>
        Promise.resolve(
          (async function* () {
            await sleep(0);
            yield value;
          })(),
        ),
    };
    const error = await rejection(collect(completerOver(strange).complete(prompt)));
    expect(error).toBeInstanceOf(UnavailableError);
    expect(printed(error)).toContain('no message');
  });
});

describe('an answer without end', () => {
  async function* forever(text: string) {
    for (;;) {
      await sleep(0);
      yield text;
    }
  }

  test('is cut, whatever length was asked for, and closed', async () => {
    const model = new AnyChatModel(() => forever('again and again '.repeat(20)));
    const { text, end } = await collect(completerOver(model).complete(prompt, { maxTokens: 10 }));
    expect(end.finishReason).toBe('length');
    expect(text.length).toBeGreaterThan(1_000);
    expect(text.length).toBeLessThan(8_192);
    await until(() => model.ended === 1);
  });

  test('and without text is a fault of the provider', async () => {
    const model = new AnyChatModel(() => forever(''));
    expect(printed(await rejection(collect(completerOver(model).complete(prompt))))).toContain(
      'does not end',
    );
    await until(() => model.ended === 1);
  });
});

describe('a class that heeds no signal', () => {
  /** A stream that says a word and then waits until it is let go on. */
  function stuck() {
    let goOn: (error?: Error) => void = () => undefined;
    const waiting = new Promise<void>((resolve, reject) => {
      goOn = (error) => (error ? reject(error) : resolve());
    });
    const model = new AnyChatModel(async function* () {
      yield 'one';
      await waiting;
      yield 'two';
    });
    return { model, goOn: (error?: Error) => goOn(error) };
  }

  test.each([undefined, new Error('too late')])(
    'is abandoned when it is silent, and ends later: %s',
    async (late) => {
      const { model, goOn } = stuck();
      const error = await rejection(
        collect(completerOver(model, { timeoutMilliseconds: 100 }).complete(prompt)),
      );
      expect(printed(error)).toContain('took too long');
      goOn(late);
      await until(() => model.ended === 1);
      // A rejection that nobody handles would end the process.
      await sleep(10);
    },
  );

  test.each([undefined, new Error('too late')])('is abandoned when its caller leaves: %s', async (late) => {
    const { model, goOn } = stuck();
    const controller = new AbortController();
    const reason = new Error('enough');
    const read = async () => {
      for await (const event of completerOver(model).complete(prompt, { signal: controller.signal })) {
        if (event.type === 'text') setTimeout(() => controller.abort(reason), 20);
      }
    };
    expect(await rejection(read())).toBe(reason);
    goOn(late);
    await until(() => model.ended === 1);
  });

  test('is abandoned before its first word, too', async () => {
    const model = new AnyChatModel(async function* () {
      await sleep(300);
      yield await Promise.reject(new Error('too late'));
    });
    const completer = completerOver(model, { timeoutMilliseconds: 50 });
    expect(await rejection(collect(completer.complete(prompt)))).toBeInstanceOf(UnavailableError);
    await until(() => model.ended === 1);
  });

  test('holds a place for an answer that has begun until it ends, and there are only some', async () => {
    const begun: (() => void)[] = [];
    const model = new AnyChatModel(async function* () {
      yield 'one ';
      await new Promise<void>((resolve) => begun.push(resolve));
      yield 'two';
    });
    const completer = completerOver(model, { timeoutMilliseconds: 200 });
    const ask = () =>
      Promise.all(Array.from({ length: 100 }, () => rejection(collect(completer.complete(prompt)))));
    for (const errors of [await ask(), await ask()]) {
      for (const error of errors) expect(error).toBeInstanceOf(UnavailableError);
    }
    expect(model.begun).toBe(128);
    for (const end of begun) end();
    await until(() => model.ended === 128);
    const answer = collect(completer.complete(prompt));
    await until(() => begun.length === 129);
    begun.at(-1)?.();
    expect((await answer).text).toBe('one two');
  });
});
