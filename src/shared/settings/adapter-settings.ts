/** What all members of a union have together. */
type All<Union> = (Union extends unknown ? (member: Union) => void : never) extends (all: infer Each) => void
  ? Each
  : never;

interface WithSections {
  readonly settings?: object;
}
type SectionsOf<Registry extends readonly WithSections[]> = All<NonNullable<Registry[number]['settings']>>;

/** The sections that the adapters of a port have of their own. */
export function sectionsOf<const Registry extends readonly WithSections[]>(
  registry: Registry,
): SectionsOf<Registry> {
  const sections: unknown = Object.assign({}, ...registry.map(({ settings }) => settings));
  // @NOTE the properties of all, which is what the type says; Object.assign loses it in a list
  return sections as SectionsOf<Registry>;
}

/** Says what those adapters are whose names do not say it. */
export const describedModels = (
  registry: readonly { readonly name: string; readonly description?: string }[],
): string =>
  registry
    .filter(({ description }) => description !== undefined)
    .map(({ name, description }) => `\`${name}\` is ${String(description)}`)
    .join('; ');

export const describedStorages = (registry: readonly { readonly description: string }[]): string =>
  registry.map(({ description }) => description).join(', or ');
