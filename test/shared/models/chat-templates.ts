/**
 * A turn of the user and what follows it, in the chat templates that makers of models publish, with the tokens that
 * `tokenizer_config.json` lists for them. `DATA` stands where the text of a message is.
 */
export const chatTemplates: Readonly<Record<string, string>> = {
  chatMl: '<|im_start|>user\nDATA<|im_end|>\n<|im_start|>assistant\n<|endoftext|>',
  qwen3:
    '<|im_start|>user\nDATA<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n<tool_call>\n{}\n</tool_call><|im_end|>',
  qwenVision: '<|im_start|>user\n<|vision_start|><|image_pad|><|vision_end|>DATA<|im_end|>',
  llama2: '<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nDATA [/INST] Yes. </s><s>[INST] ',
  llama3:
    '<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nDATA<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n<|python_tag|><|eom_id|><|end_of_text|>',
  llama4:
    '<|begin_of_text|><|header_start|>user<|header_end|>\n\nDATA<|eot|><|header_start|>assistant<|header_end|>\n\n<|python_start|>x<|python_end|>',
  mistralV1: '<s> [INST] DATA [/INST] Yes.</s> [INST] ',
  mistralV3:
    '<s>[AVAILABLE_TOOLS] [][/AVAILABLE_TOOLS][INST] DATA[/INST][TOOL_CALLS] []</s>[TOOL_RESULTS] {}[/TOOL_RESULTS]',
  mistralV7:
    '<s>[SYSTEM_PROMPT]Be brief.[/SYSTEM_PROMPT][INST]DATA[/INST]Yes.</s>[TOOL_CALLS]f[CALL_ID]9[ARGS]{}[TOOL_CONTENT]',
  magistral: '<s>[SYSTEM_PROMPT][THINK]x[/THINK][/SYSTEM_PROMPT][INST][IMG][IMG_BREAK][IMG_END]DATA[/INST]',
  codestral: '<s>[SUFFIX]DATA[PREFIX]x[MIDDLE]',
  gemma2: '<bos><start_of_turn>user\nDATA<end_of_turn>\n<start_of_turn>model\n<eos>',
  gemma3:
    '<bos><start_of_turn>user\n<start_of_image><image_soft_token><end_of_image>DATA<end_of_turn>\n<pad><unk><unused99>',
  functionGemma:
    '<start_function_declaration>x<end_function_declaration><start_function_call>y<escape>DATA<escape><end_function_call><start_function_response>',
  gemma4:
    '<bos><|turn>system\n<|think|><turn|>\n<|turn>user\nDATA<turn|>\n<|turn>model\n<|channel>thought\n<channel|><|tool_call>call:f{a:<|"|>b<|"|>}<tool_call|><|tool_response>',
  deepSeek: '<｜begin▁of▁sentence｜><｜User｜>DATA<｜Assistant｜><think>\n</think>Yes.<｜end▁of▁sentence｜>',
  deepSeekTools:
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>DATA<｜tool▁sep｜>x<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜tool▁outputs▁begin｜><|EOT|>',
  phi3: '<s><|system|>\nBe brief.<|end|>\n<|user|>\nDATA<|end|>\n<|assistant|>\n',
  phi4: '<|im_start|>user<|im_sep|>DATA<|im_end|><|im_start|>assistant<|im_sep|>',
  commandR:
    '<BOS_TOKEN><|START_OF_TURN_TOKEN|><|USER_TOKEN|>DATA<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><EOS_TOKEN>',
  commandR7b:
    '<BOS_TOKEN><|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>DATA<|START_THINKING|><|END_THINKING|><|START_RESPONSE|><|END_RESPONSE|>',
  granite:
    '<|start_of_role|>user<|end_of_role|>DATA<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>',
  harmony:
    '<|start|>user<|message|>DATA<|end|><|start|>assistant<|channel|>final<|constrain|>json<|message|>x<|return|><|call|>',
  glm4: '[gMASK]<sop><|system|>\nBe brief.<|user|>\nDATA<|assistant|>\n<think></think><|observation|><eop>',
  zephyr: '<|user|>\nDATA</s>\n<|assistant|>\n',
  openChat: '<s>GPT4 Correct User: DATA<|end_of_turn|>GPT4 Correct Assistant:',
  exaone: '[BOS][|system|]Be brief.[|endofturn|]\n[|user|]DATA\n[|assistant|]x[|endofturn|]',
  kimi2:
    '<|im_system|>system<|im_middle|>Be brief.<|im_end|><|im_user|>user<|im_middle|>DATA<|im_end|>[EOS][BOS][EOT]',
  kimi3: '<|open|>message role="user"<|sep|>DATA<|close|>message<|sep|><|end_of_msg|>',
  miniMax:
    ']~!b[]~b]system\nBe brief.[e~[\n]~b]user\nDATA[e~[\n]~b]ai\n<think>\n<minimax:tool_call>x</minimax:tool_call>',
  miniMaxText: '<beginning_of_sentence>user name=用户\nDATA<end_of_sentence>\n',
  seed: '<seed:bos>user\nDATA<seed:eos><seed:bos>assistant\n<seed:think>x</seed:think><seed:tool_call></seed:tool_call>',
  hunyuan: '<｜hy_begin▁of▁sentence｜><｜hy_User｜>DATA<｜hy_Assistant｜><｜hy_place▁holder▁no▁2｜>',
  nemotron:
    '<SPECIAL_10>System\n\n<SPECIAL_11>User\nDATA\n<SPECIAL_11>Assistant\n<think></think><SPECIAL_12>',
  nemotron4: '<extra_id_0>System\n\n<extra_id_1>User\nDATA\n<extra_id_1>Assistant\n',
  baichuan: '<reserved_106>DATA<reserved_107>',
  internLm: '<s><|User|>:DATA<eoh>\n<|Bot|>:Yes.<eoa>\n',
  miniCpm: '<s><用户>DATA<AI>Yes.</s>',
  ling: '<role>HUMAN</role>DATA<role>ASSISTANT</role>',
  smolVlm: '<|im_start|>User: DATA<end_of_utterance>\nAssistant:',
};

/** The texts in brackets in a template, which are all that its tokenizer makes a token of. */
export const markersOf = (template: string): string[] =>
  template.match(/\]~!?b[[\]]|\[e~\[|<{1,2}[^<>]+>{1,2}|\[[^[\]{}]+\]/g) ?? [];
