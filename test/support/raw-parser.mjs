import { Socket } from 'node:net';

// Stands in for a parser process that a file has taken over: it writes the text that it is to chunk to the channel as it is,
// and `endless` for ever without a line end.
const channel = new Socket({ fd: 3, readable: false, writable: true });
process.stdin.setEncoding('utf8').on('data', (line) => {
  const { source } = JSON.parse(line);
  if (source.text === 'endless') writeOn();
  else channel.write(source.text);
});
process.stdin.on('end', () => process.exit(0));
channel.write('{"type":"ready"}\n');

function writeOn() {
  channel.write('x'.repeat(1024 * 1024), (error) => {
    if (!error) writeOn();
  });
}
