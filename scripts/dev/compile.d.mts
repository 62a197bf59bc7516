export function compileFile(source: string, root: string): Promise<string>;
