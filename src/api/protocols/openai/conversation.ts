import { z } from 'zod';
import { toWellFormed } from '../../../shared/json-values.js';
import type { EarlierMessage } from '../../../shared/ports.js';
import { HttpError } from '../../http/http-error.js';
import { isLonger } from '../../http/validation/field-schemas.js';
import { addItem } from '../../http/validation/validation-errors.js';
import { MAX_QUERY_CHARACTERS } from '../../routes/retrieval.js';

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const;
type Role = (typeof ROLES)[number];

export interface Message {
  readonly role: Role;
  readonly text: string;
}

const MAX_PARTS = 1_000;
/** The kinds of parts that are texts, of chats and of responses. */
const TEXT_PARTS: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text', 'refusal']);

const partSchema = z.object({
  type: z.string(),
  text: z.string().nullish(),
  refusal: z.string().nullish(),
});

/** The content of a message, a text or parts of which all are texts, as one text. */
export const messageContent = z
  .union([z.string(), z.array(z.unknown()).max(MAX_PARTS)])
  .nullish()
  .transform((content, context): string => {
    if (typeof content === 'string') return toWellFormed(content);
    return (content ?? []).map((part, index) => readPart(part, index, context)).join('\n');
  })
  .meta({
    override: {
      description: 'A text, or a list of parts that are texts.',
      anyOf: [
        { type: 'string' },
        {
          type: 'array',
          maxItems: MAX_PARTS,
          items: {
            type: 'object',
            properties: { type: { type: 'string' }, text: { type: 'string' } },
            required: ['type'],
          },
        },
        { type: 'null' },
      ],
    },
  });

function readPart(part: unknown, index: number, context: z.RefinementCtx): string {
  const parsed = partSchema.safeParse(part);
  if (!parsed.success) {
    addItem(context, { loc: [index], msg: 'value is not a part of a message', type: 'type_error.dict' });
    return '';
  }
  const { type, text, refusal } = parsed.data;
  if (TEXT_PARTS.has(type)) return toWellFormed(text ?? refusal ?? '');
  const msg = `only texts are read here, and no part of the type '${type.slice(0, 64)}'`;
  addItem(context, { loc: [index, 'type'], msg, type: 'unsupported_value' });
  return '';
}

export const messageRole = z.enum(ROLES);

/** A question, and what was said before it. */
export interface Conversation {
  /** The text that is searched for and answered. */
  readonly question: string;
  /** Oldest first. */
  readonly earlier: readonly EarlierMessage[];
}

/** A question of at most this many characters seldom says what it is about. */
const MAX_FOLLOW_UP = 30;
/** The characters of the message before it that help to find what it is about. */
const MAX_SUBJECT = 1_000;

/**
 * Makes a question of a conversation: the last message of the user, behind the one before it where it is short, as in `And in
 * winter?`. The others are told to the model. Null where no user says anything.
 */
function toConversation(messages: readonly Message[]): Conversation | null {
  const last = messages.findLastIndex(({ role, text }) => role === 'user' && /\S/.test(text));
  const asked = messages[last];
  if (!asked) return null;
  const before = messages.filter(({ text }, index) => index !== last && /\S/.test(text));
  const subject = messages.slice(0, last).findLast(({ role, text }) => role === 'user' && /\S/.test(text));
  const isFollowUp = subject !== undefined && !isLonger(asked.text.trim(), MAX_FOLLOW_UP);
  const question = isFollowUp
    ? `${toWellFormed(subject.text.slice(0, MAX_SUBJECT))}\n${asked.text}`
    : asked.text;
  return { question, earlier: before.map(toEarlier) };
}

const toEarlier = ({ role, text }: Message): EarlierMessage => ({ role: SPEAKERS[role], text });

/** The results of tools are told by the assistant who asked for them. */
const SPEAKERS: Readonly<Record<Role, EarlierMessage['role']>> = {
  system: 'instructions',
  developer: 'instructions',
  user: 'user',
  assistant: 'assistant',
  tool: 'assistant',
  function: 'assistant',
};

/** Makes a conversation of the messages in a field. @throws HttpError 422 where there is none */
export function requireConversation(messages: readonly Message[], field: string): Conversation {
  const conversation = toConversation(messages);
  if (conversation && !isLonger(conversation.question, MAX_QUERY_CHARACTERS + MAX_SUBJECT + 1))
    return conversation;
  const msg = conversation
    ? `ensure the last message of the user has at most ${String(MAX_QUERY_CHARACTERS)} characters`
    : 'no message of the role user has a text';
  throw new HttpError(422, [{ loc: ['body', field], msg, type: 'value_error' }]);
}
