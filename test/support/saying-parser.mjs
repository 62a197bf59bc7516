// Stands in for a parser process that a file has taken over: it says whatever the text that it is to chunk says.
process.on('message', ({ id, source }) => {
  for (const message of JSON.parse(source.text))
    process.send(message?.id === 'task' ? { ...message, id } : message);
});
process.on('disconnect', () => process.exit(0));
process.send({ type: 'ready' });
