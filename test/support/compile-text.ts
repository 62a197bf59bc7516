import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { z } from 'zod';

const configFile = z.looseObject({ compilerOptions: z.record(z.string(), z.unknown()) });

/** The mistakes that TypeScript finds in a text, by its lines, from 1. It has the types that tests have. */
export function compileText(text: string): { readonly line: number; readonly message: string }[] {
  const read = ts.readConfigFile('tsconfig.json', (path) => readFileSync(path, 'utf8'));
  const { compilerOptions } = configFile.parse(read.config);
  const { options } = ts.convertCompilerOptionsFromJson(compilerOptions, process.cwd());
  const name = join(process.cwd(), 'test', 'text.ts');
  const host = ts.createCompilerHost(options);
  const fileExists = host.fileExists.bind(host);
  const getSourceFile = host.getSourceFile.bind(host);
  host.fileExists = (path) => path === name || fileExists(path);
  host.getSourceFile = (path, ...others) =>
    path === name ? ts.createSourceFile(path, text, ts.ScriptTarget.ES2023) : getSourceFile(path, ...others);
  const program = ts.createProgram([name], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => ({
    line: 1 + (file?.getLineAndCharacterOfPosition(start).line ?? 0),
    message: ts.flattenDiagnosticMessageText(messageText, '\n'),
  }));
}
