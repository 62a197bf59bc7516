// Programs do this with OpenAI's client for JavaScript, whose file the first argument names. It prints what it got.
import { pathToFileURL } from 'node:url';

const [, , file, baseURL, apiKey, embeddingModel] = process.argv;
const { default: OpenAI } = await import(pathToFileURL(file).href);
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const messages = [{ role: 'user', content: 'How many steps has the tower of the town hall?' }];
const failure = (call) =>
  call.then(
    () => null,
    ({ status, code, message }) => ({ status, code, message }),
  );

const models = [];
for await (const { id } of client.models.list()) models.push(id);
const whole = await client.chat.completions.create({ model: 'quire', messages });
const streamed = { text: '', annotations: 0, usage: null, choicesOfUsage: null };
const stream = await client.chat.completions.create({
  model: 'quire',
  messages,
  stream: true,
  stream_options: { include_usage: true },
});
for await (const { choices, usage } of stream) {
  streamed.text += choices[0]?.delta.content ?? '';
  streamed.annotations += choices[0]?.delta.annotations?.length ?? 0;
  if (usage) [streamed.usage, streamed.choicesOfUsage] = [usage, choices.length];
}
const input = ['The tower has 294 steps.', 'Trains run hourly.'];
const asked = await client.embeddings.create({ model: embeddingModel, input });
const floats = await client.embeddings.create({ model: embeddingModel, input, encoding_format: 'float' });

console.log(
  JSON.stringify({
    models,
    retrieved: (await client.models.retrieve('quire')).id,
    text: whole.choices[0].message.content,
    annotations: whole.choices[0].message.annotations,
    usage: whole.usage,
    streamed,
    vectors: asked.data.map(({ embedding }) => [...embedding]),
    floats: floats.data.map(({ embedding }) => [...embedding]),
    unknownModel: await failure(client.chat.completions.create({ model: 'gpt-5', messages })),
    unknownPath: await failure(client.get('/nothing/here')),
    wrongKey: await failure(new OpenAI({ baseURL, apiKey: 'wrong', maxRetries: 0 }).models.list()),
  }),
);
