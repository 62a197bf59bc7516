// Prints what the PDF at the path reads as, by text recognition in these languages: recognize-file.mjs PATH eng+deu
import { readFile } from 'node:fs/promises';
import { createReceiptWriter } from '../../dist/readers/receipt/receipt-writer.js';
import { parsePdf } from '../../dist/readers/formats/pdf/pdf.js';
import { DEFAULT_READ_OPTIONS } from '../../dist/readers/read-options.js';

const [path = '', languages = ''] = process.argv.slice(2);
const receipt = createReceiptWriter();
const options = { ...DEFAULT_READ_OPTIONS, ocrLanguages: languages.split('+') };
let text = '';
for await (const block of parsePdf(await readFile(path), { filename: null, options, receipt }))
  text += block.text;
process.stdout.write(JSON.stringify({ text, gaps: receipt.findings().gap_count }));
