// Keeps the services that test files share, in a process of its own: Jest gives each file a module registry of its own,
// and a worker that has children of its own does not end. It ends with who started it, however that ends.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { request, type Request } from './messages.js';
import { createServices } from './services.js';

const services = createServices();

function answer(asked: Request): unknown {
  switch (asked.ask) {
    case 'lend':
      return services.lend(asked);
    case 'take back':
      services.takeBack(asked.worker);
      return null;
    case 'output':
      return services.output(asked.id);
    case 'longest turn':
      return services.longestTurn(asked.id);
  }
}

const read = async (message: IncomingMessage) => request.parse(JSON.parse(String(await buffer(message))));

const server = createServer((message, response) => {
  void read(message)
    .then(answer)
    .then(
      (value) => response.end(JSON.stringify(value)),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.stack : String(error)),
    );
});

// Ctrl+C is meant for Jest, which is waited for.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => {
  server.close();
  server.closeAllConnections();
  void services.stop();
});

server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.({ address: server.address() });
