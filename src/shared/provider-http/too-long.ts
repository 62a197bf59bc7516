/** The answer of a provider about a text that is longer than its model reads. */
export interface TooLong {
  /** Tokens that the model reads, by its own count; null where the provider does not say it. */
  readonly window: number | null;
}

interface Said {
  readonly code: string | null;
  readonly message: string;
}

/** Codes of OpenAI's API, of llama.cpp, and of servers that copy them. */
const CODES = ['context_length_exceeded', 'exceed_context_size_error', 'string_above_max_length'];

const NUMBER = String.raw`([\d][\d,]{0,12})`;
/**
 * The words of OpenAI, vLLM, llama.cpp, text-embeddings-inference, text-generation-inference, LM Studio, Ollama, Anthropic,
 * Google, Mistral, Cohere, Voyage and Jina. Most name the number of tokens.
 */
const FORMS = [
  String.raw`maximum (?:context|model|sequence|input) length (?:is|of) ${NUMBER}`,
  String.raw`context (?:length|window|size) (?:is|of)(?: only)? ${NUMBER}`,
  String.raw`available context size \(${NUMBER} tokens`,
  String.raw`must have less than ${NUMBER} tokens`,
  String.raw`max_new_tokens\W{1,4} must be <= ${NUMBER}`,
  String.raw`tokens > ${NUMBER} maximum`,
  String.raw`maximum number of tokens allowed \(?${NUMBER}`,
  String.raw`with ${NUMBER} maximum context length`,
  String.raw`(?:cannot|must not|should not) (?:exceed|be longer than) ${NUMBER} tokens`,
  String.raw`(?:longer|larger|more) than the (?:maximum|limit) (?:of|allowed:?) ${NUMBER} tokens`,
  String.raw`(?:limit|maximum|max) (?:is|of|to) ${NUMBER} (?:input )?tokens`,
  String.raw`(?:exceeds?|exceeded|beyond|over|larger than) (?:the |its )?(?:model'?s? )?(?:available |maximum )?(?:context|input) (?:length|window|size)`,
  String.raw`(?:prompt|input|query|text)s? (?:is|are|was) too (?:long|large)`,
  String.raw`(?:too many (?:input )?tokens|reduce the length of)`,
].map((form) => new RegExp(form, 'i'));

/**
 * Tells whether a refusal is about the length of the prompt or text, from its code or, since few servers have one, its message.
 * A limit on the completion alone is another matter.
 */
export function readTooLong({ code, message }: Said): TooLong | null {
  const text = message.slice(0, 4_096);
  const found = FORMS.map((form) => form.exec(text)).filter((match) => match !== null);
  const numbers = found.flatMap(([, digits]) =>
    digits === undefined ? [] : [Number(digits.replaceAll(',', ''))],
  );
  if (found.length === 0 && !(code !== null && CODES.includes(code))) return null;
  return { window: numbers.find((number) => number > 0) ?? null };
}

/** The longest completion that a model makes, in tokens, where a refusal says that the one asked for is longer; else null. */
export function readCompletionLimit(message: string): number | null {
  const match = new RegExp(String.raw`at most ${NUMBER} completion tokens`, 'i').exec(message);
  const other = new RegExp(
    String.raw`max(?:_completion)?_tokens\b.{0,60}?(?:<=|less than or equal to|range \[?1,) ?${NUMBER}`,
    'i',
  ).exec(message);
  const digits = match?.[1] ?? other?.[1];
  return digits === undefined ? null : Number(digits.replaceAll(',', ''));
}
