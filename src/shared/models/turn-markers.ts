/**
 * The markers of chat templates of open models, by family: tokens that begin and end texts, turns, tools and thoughts, as
 * their tokenizers publish them (`tokenizer_config.json`). A closing form (`</s>`, `[/INST]`) is meant with each, and any
 * number where one has a number. Whatever has the shape `<|…|>` or `[|…|]`, with any bar, is a marker without being listed:
 * ChatML, Llama 3 and 4, DeepSeek, Phi, Granite, Command R, Harmony, EXAONE and many others write theirs so.
 */
const MARKERS: Readonly<Record<string, readonly string[]>> = {
  sentencePiece: ['<s>', '<unk>', '<pad>', '<mask>', '<bos>', '<eos>', '<eot>', '<sep>', '<cls>'],
  llama2: ['<<SYS>>', '[INST]'],
  mistral: ['[INST]', '[SYSTEM_PROMPT]', '[MODEL_SETTINGS]', '[THINK]', '[CALL_ID]', '[ARGS]', '[control_8]'],
  mistralTools: ['[AVAILABLE_TOOLS]', '[TOOL_CALLS]', '[TOOL_RESULTS]', '[TOOL_CONTENT]'],
  mistralMedia: ['[IMG]', '[IMG_BREAK]', '[IMG_END]', '[AUDIO]', '[BEGIN_AUDIO]'],
  mistralInfill: ['[PREFIX]', '[MIDDLE]', '[SUFFIX]'],
  gemma: ['<start_of_turn>', '<end_of_turn>', '<start_of_image>', '<end_of_image>', '<unused0>'],
  gemma3: ['<image_soft_token>', '<audio_soft_token>', '<start_of_audio>', '<end_of_audio>'],
  gemmaTools: ['<start_function_declaration>', '<start_function_call>', '<start_function_response>'],
  gemmaToolEnds: ['<end_function_declaration>', '<end_function_call>', '<end_function_response>', '<escape>'],
  gemma4: ['<|turn>', '<turn|>', '<|channel>', '<channel|>', '<|think>', '<think|>'],
  gemma4Tools: ['<|tool>', '<tool|>', '<|tool_call>', '<tool_call|>', '<|tool_response>', '<tool_response|>'],
  gemma4Media: ['<|image>', '<image|>', '<|audio>', '<audio|>', '<|video>', '<video|>'],
  qwen: ['<think>', '<tool_call>', '<tool_response>'],
  commandR: ['<BOS_TOKEN>', '<EOS_TOKEN>', '<EOP_TOKEN>', '<MASK_TOKEN>'],
  glm: ['[gMASK]', '[sMASK]', '<sop>', '<eop>'],
  kimi: ['[BOS]', '[EOS]', '[EOT]', '[PAD]', '[UNK]'],
  nemotron: ['<extra_id_0>', '<SPECIAL_10>', '<AVAILABLE_TOOLS>', '<TOOLCALL>', '<TOOL_RESPONSE>'],
  miniMax: ['<beginning_of_sentence>', '<end_of_sentence>', '<minimax:tool_call>'],
  seed: [
    '<seed:bos>',
    '<seed:eos>',
    '<seed:pad>',
    '<seed:think>',
    '<seed:tool_call>',
    '<seed:cot_budget_reflect>',
  ],
  internLm: ['<eoh>', '<eoa>', '<eoc>'],
  miniCpm: ['<用户>', '<AI>'],
  baichuan: ['<reserved_106>'],
  ling: ['<role>'],
  smolVlm: ['<end_of_utterance>', '<fake_token_around_image>'],
  bert: ['[CLS]', '[SEP]', '[MASK]'],
};

const known = new Set(Object.values(MARKERS).flat().map(spell));

/** The longest marker, with spaces in it. */
const ANGLED = /[<＜﹤][^<>＜＞﹤﹥‹›]{1,80}[>＞﹥]/g;
const SQUARE = /[[［﹇][^[\]［］﹇﹈⟦⟧]{1,80}[\]］﹈]/g;
/** MiniMax writes `]~!b[`, `]~b]` and `[e~[`, whose brackets are no pairs. */
const UNPAIRED = /[[\]](?=(?:~!?b|e~)[[\]])/gi;

/**
 * Makes plain text of markers that end a turn or begin another in a chat template: their brackets become some that no
 * template has, `‹s›` for `<s>` and `⟦INST⟧` for `[INST]`. Servers may read markers even within a message, and models may
 * take a text for one that differs in case, spaces, width or bars. A broken marker stays as it is.
 */
export function breakTurnMarkers(text: string): string {
  return text
    .replace(UNPAIRED, '⟦')
    .replace(SQUARE, (bracketed) => (isMarker(bracketed) ? `⟦${bracketed.slice(1, -1)}⟧` : bracketed))
    .replace(ANGLED, (bracketed) => (isMarker(bracketed) ? `‹${bracketed.slice(1, -1)}›` : bracketed));
}

const isMarker = (bracketed: string): boolean => {
  const spelled = spell(bracketed);
  return known.has(spelled) || /^(?:<\|.+\|>|\[\|.+\|\])$/u.test(spelled);
};

/** One spelling for all that look alike: without case, width, spaces, invisible characters, slashes, underscores and numbers. */
function spell(marker: string): string {
  return marker
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\p{Cf}_▁/\\-]+/gu, '')
    .replace(/[│┃∣ǀ❘¦]/gu, '|')
    .replace(/\p{Nd}+/gu, '0')
    .replace(/^<<|>>$/g, (pair) => pair.charAt(0));
}
