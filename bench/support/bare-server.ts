import express from 'express';

/** The HTTP framework with nothing behind it, as a process of its own: what no API on it can surpass. */
const server = express()
  .use(express.json())
  .post('/retrieve/chunks', (_request, response) => {
    response.json([]);
  })
  .listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.send?.({ port: typeof address === 'object' ? address?.port : 0 });
  });
process.on('disconnect', () => process.exit(0));
