import { leaseCompletion, outcome } from '../../routes/examples/retrieval.js';
import { LEASE_ID } from '../../routes/examples/story.js';

const notFound = (model: string, advice: string) => ({
  error: {
    message: `model: The model '${model}' does not exist: ${advice}, and GET /v1/models lists all`,
    type: 'invalid_request_error',
    param: 'model',
    code: 'model_not_found',
  },
});

const model = { id: 'quire', object: 'model' as const, created: 0, owned_by: 'quire' };

export const modelsExamples = {
  responses: { 200: { object: 'list' as const, data: [model, { ...model, id: 'builtin-2' }] } },
};

export const modelExamples = {
  path: { model: 'quire' },
  responses: { 200: model, 404: notFound('quire/cache/none', 'it is none of yours') },
};

const { quotes } = outcome.sources[0] ?? { quotes: [] };
const place = quotes[0] ? `&quote=${String(quotes[0].start)}-${String(quotes[0].end)}` : '';

/** The marks of the answer; the second one names the source at its end. */
const annotations = [leaseCompletion.indexOf('[1]'), leaseCompletion.lastIndexOf('[1]')].map((start) => ({
  type: 'url_citation' as const,
  url_citation: {
    url: `http://127.0.0.1:8000/view/${LEASE_ID}?chunk=0${place}`,
    title: LEASE_ID,
    start_index: start,
    end_index: start + 3,
  },
}));

const { sources, unsupported, usage, finish_reason } = outcome;
const head = { id: 'chatcmpl-5d1f0a8e3c7b4f6e9a2d8c0b1e4f7a63', created: 1_740_993_631, model: 'quire' };
const question = { role: 'user' as const, content: 'How much is the rent?' };
const chunk = { ...head, object: 'chat.completion.chunk' as const };

export const chatExamples = {
  plain: { model: 'quire', messages: [question] },
  body: {
    model: 'quire',
    messages: [{ role: 'system' as const, content: 'Answer in one sentence.' }, question],
    filters: { kind: 'lease' },
    k: 2,
    max_tokens: 200,
    temperature: 0,
    stream: false,
  },
  responses: {
    200: {
      ...head,
      object: 'chat.completion' as const,
      choices: [
        {
          index: 0,
          message: { role: 'assistant' as const, content: leaseCompletion, refusal: null, annotations },
          logprobs: null,
          finish_reason,
        },
      ],
      usage,
      sources,
      unsupported,
    },
    404: notFound('gpt-5', 'quire and quire/cache/<name> answer questions'),
    409: {
      error: {
        message: "Cache 'books' is being built",
        type: 'invalid_request_error',
        param: null,
        code: null,
      },
    },
  },
  events: [
    {
      ...chunk,
      choices: [
        {
          index: 0,
          delta: { content: '\nThe rent is 1,800 euros a month. [1]' },
          logprobs: null,
          finish_reason: null,
        },
      ],
    },
    {
      ...chunk,
      choices: [{ index: 0, delta: { annotations }, logprobs: null, finish_reason }],
      sources,
      unsupported,
    },
  ],
};

export const embeddingExamples = {
  plain: { model: 'quire', input: 'Four keys were handed over.' },
  body: { model: 'quire', input: ['Four keys were handed over.'], encoding_format: 'float' as const },
  responses: {
    200: {
      object: 'list' as const,
      data: [{ object: 'embedding' as const, index: 0, embedding: [0.5, -0.5, 0.5, -0.5] }],
      model: 'builtin-2',
      usage: { prompt_tokens: 6, total_tokens: 6 },
    },
    404: notFound('text-embedding-3-small', 'quire or builtin-2 makes vectors'),
  },
};

const response = {
  id: 'resp_5d1f0a8e3c7b4f6e9a2d8c0b1e4f7a63',
  object: 'response' as const,
  created_at: 1_740_993_631,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  model: 'quire',
  parallel_tool_calls: false as const,
  previous_response_id: null,
  store: false as const,
  temperature: null,
  tool_choice: 'auto' as const,
  tools: [{ type: 'file_search' as const, vector_store_ids: ['all'] }],
};
const output = [
  {
    type: 'file_search_call' as const,
    id: 'fs_0a3b2f7f2b115d1f0a8e3c7b4f6e9a2d',
    status: 'completed' as const,
    queries: ['How much is the rent?'],
    results: null,
  },
  {
    type: 'message' as const,
    id: 'msg_9a2d8c0b1e4f7a635d1f0a8e3c7b4f6e',
    role: 'assistant' as const,
    status: 'completed' as const,
    content: [
      {
        type: 'output_text' as const,
        text: leaseCompletion,
        annotations: annotations.map(({ url_citation: { start_index: index } }) => ({
          type: 'file_citation' as const,
          file_id: LEASE_ID,
          filename: LEASE_ID,
          index,
        })),
      },
    ],
  },
];

export const responseExamples = {
  plain: { model: 'quire', input: 'How much is the rent?' },
  body: {
    model: 'quire',
    input: 'How much is the rent?',
    tools: [{ type: 'file_search' as const, vector_store_ids: ['all'], max_num_results: 2 }],
    stream: false,
  },
  responses: {
    200: {
      ...response,
      status: 'completed' as const,
      output,
      usage: {
        input_tokens: 56,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 56,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 112,
      },
    },
    404: {
      error: {
        message: "Vector store 'vs_1' not found",
        type: 'invalid_request_error',
        param: null,
        code: 'not_found',
      },
    },
  },
  events: [
    {
      type: 'response.created',
      sequence_number: 0,
      response: { ...response, status: 'in_progress' as const, output: [], usage: null },
    },
  ],
};
