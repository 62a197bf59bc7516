import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';

type Fields = ConstructorParameters<typeof AIMessageChunk>[0];
/** A message of a stream, as a text or with all that packages add to one. */
export type Told = string | { readonly content: Fields; readonly [more: string]: unknown };
export type Answer = () => AsyncGenerator<Told>;

/** A class that streams whatever it is told to, and heeds no signal. */
export class AnyChatModel extends BaseChatModel {
  begun = 0;
  ended = 0;

  constructor(readonly answer: Answer) {
    super({});
  }
  override _llmType() {
    return 'any';
  }
  override _generate(): Promise<ChatResult> {
    throw new Error('it is asked for streams');
  }
  override async *_streamResponseChunks(..._: unknown[]): AsyncGenerator<ChatGenerationChunk> {
    this.begun += 1;
    try {
      for await (const told of this.answer()) {
        const { content, ...more } = typeof told === 'string' ? { content: told } : told;
        const message = Object.assign(new AIMessageChunk(content), more);
        yield new ChatGenerationChunk({ message, text: '' });
      }
    } finally {
      this.ended += 1;
    }
  }
}

/** A class that does not stream. */
export class WholeChatModel extends AnyChatModel {
  override _streamResponseChunks = Reflect.get(BaseChatModel.prototype, '_streamResponseChunks');
  override _generate(): Promise<ChatResult> {
    const message = Object.assign(new AIMessage('all at once'), usage(7, 3));
    const generationInfo = { finish_reason: 'length' };
    return Promise.resolve({ generations: [{ text: 'all at once', message, generationInfo }] });
  }
}

/** The tokens that a message tells. */
export const usage = (input: number, output: number) => ({
  usage_metadata: { input_tokens: input, output_tokens: output, total_tokens: input + output },
});
