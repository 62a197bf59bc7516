/** The intersection of the members of a union. */
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
  // @NOTE the type says the properties of all, as here; Object.assign loses them in a list
  return sections as SectionsOf<Registry>;
}

/** Describes the adapters whose names do not say enough. */
export const describedModels = (
  registry: readonly { readonly name: string; readonly description?: string }[],
): string =>
  registry
    .filter(({ description }) => description !== undefined)
    .map(({ name, description }) => `\`${name}\` is ${String(description)}`)
    .join('; ');

export const describedStorages = (registry: readonly { readonly description: string }[]): string =>
  registry.map(({ description }) => description).join(', or ');
