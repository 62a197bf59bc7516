import { Socket } from 'node:net';

// Stands in for a parser process that a file has taken over: it writes the text that it is to chunk to the channel as it is,
// `endless` for ever without a line end, what follows `flood ` again and again, with the number of the task for "task" and
// the one before for "other", and after `late …` it reads the document as it should, and then says what follows.
const channel = new Socket({ fd: 3, readable: false, writable: true });
process.stdin.setEncoding('utf8').on('data', (line) => {
  const { id, source } = JSON.parse(line);
  if (source.text.startsWith('late ')) {
    channel.write(
      `${JSON.stringify({ type: 'failed', id, code: 'no_text', message: '', residentBytes: 1 })}\n`,
    );
    const said = source.text.slice('late '.length);
    setTimeout(() => (said === 'endless' ? writeOn() : channel.write(said)), 100);
  } else if (source.text.startsWith('flood ')) {
    const said = source.text
      .slice('flood '.length)
      .replace('"task"', id)
      .replace('"other"', id - 1);
    writeOn(`${said}\n`.repeat(Math.ceil(65_536 / said.length)));
  } else if (source.text === 'endless') writeOn();
  else channel.write(source.text);
});
process.stdin.on('end', () => process.exit(0));
channel.write('{"type":"ready"}\n');

function writeOn(said = 'x'.repeat(1024 * 1024)) {
  channel.write(said, (error) => {
    if (!error) writeOn(said);
  });
}
