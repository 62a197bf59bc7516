export function touchedBy(
  changed: readonly string[],
  processes: readonly { readonly name: string; readonly entry: string }[],
): string[];
