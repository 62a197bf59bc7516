import { createServer } from 'node:http';
import { performance } from 'node:perf_hooks';

// Shows the speed of this machine by a service that has nothing to do with Quire: an answer that takes some milliseconds of
// the processor, as a search does. Where it comes late, the machine is full, and nobody's lateness says anything.
const WORK_MS = 5;

const server = createServer((_request, response) => {
  const { user } = process.cpuUsage();
  const end = performance.now() + 1_000;
  while (process.cpuUsage().user - user < WORK_MS * 1_000 && performance.now() < end);
  response.end('done');
});
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
process.on('disconnect', () => process.exit());
