import { openChildChannel } from '../../dist/workers/parse/child-channel.js';

// Stands in for a parser process that a file has taken over: it says whatever the text that it is to chunk says.
const channel = openChildChannel(() => process.exit(0));
channel.listen(({ id, source }) => {
  for (const message of JSON.parse(source.text))
    void channel.send(message?.id === 'task' ? { ...message, id } : message);
});
await channel.send({ type: 'ready' });
