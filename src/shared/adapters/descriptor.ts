import type { z } from 'zod';
import type { FindOptions } from '../local-models/processes/find-model.js';
import type { Completer, Embedder, ObjectStorage, Reranker } from '../ports.js';
import type { EnvironmentSettings } from '../settings/environment-settings.js';
import type { Rule } from '../settings/rule.js';
import type { models } from '../settings/sections/models.js';
import type { completion, embedding } from '../settings/sections/providers.js';
import type { reranking } from '../settings/sections/search.js';
import type { traces } from '../settings/sections/operations.js';

/**
 * The facts that an adapter tells of itself. The settings, their rules, and all code that serves any adapter are made of them.
 * Every process loads descriptors with the settings, and so a descriptor imports its adapter in `create` alone.
 */
interface Descriptor<Name extends string, Sections> {
  /** The value of the setting of its port. */
  readonly name: Name;
  /** Sections of `quire.toml` that only this adapter reads, by their names in `Settings`, with their defaults. */
  readonly settings?: Sections;
  /** Conditions on the settings that hold where the adapter is chosen. */
  readonly rules?: readonly Rule<ReadSettings<Sections>>[];
  /** Conditions on its own sections that hold whatever is chosen. */
  readonly sectionRules?: readonly Rule<ReadSettings<Sections>>[];
}

/** The place where a model runs. A start finds local models and probes those of providers. */
export type Place =
  | { readonly at: 'this-process' }
  | { readonly at: 'models-process' }
  | {
      readonly at: 'provider';
      /** The settings, or variables, of the key, the model and the address: a failure names them to the operator. */
      readonly setBy: { readonly key: string; readonly model: string; readonly address: string };
      /** Its addresses end in a version, such as `/v1`. */
      readonly isVersioned?: true;
    };

/** The descriptor of an adapter for a model. */
interface ModelDescriptor<Name extends string, Sections, Port> extends Descriptor<Name, Sections> {
  /** Completes "`name` is …" in the description of the setting. */
  readonly description?: string;
  readonly place: Place;
  /** The model that the settings name, and the address of its server; null without one, or where its client knows it. */
  readonly inUse: (settings: ReadSettings<Sections>) => {
    readonly model: string;
    readonly address: string | null;
  };
  /** @throws SettingsError for wrong settings that only the model or its provider can tell */
  readonly create: (settings: ReadSettings<Sections>, options: FindOptions) => Promise<Port>;
}

export interface EmbedderDescriptor<Name extends string, Sections = NoSections> extends ModelDescriptor<
  Name,
  Sections,
  Embedder
> {
  /** Its vectors represent words alone, and an index can make them of the terms of a chunk. */
  readonly isOfTerms?: true;
}
export type CompleterDescriptor<Name extends string, Sections = NoSections> = ModelDescriptor<
  Name,
  Sections,
  Completer
>;
export type RerankerDescriptor<Name extends string, Sections = NoSections> = ModelDescriptor<
  Name,
  Sections,
  Reranker
>;

export interface StorageOptions {
  readonly logger: { readonly warn: (fields: object, message: string) => void };
  /** Objects of at most this many bytes may be read in a way that blocks the event loop. */
  readonly blockingReadBytes?: number | undefined;
}

export interface StorageDescriptor<Name extends string, Sections = NoSections> extends Descriptor<
  Name,
  Sections
> {
  /** Completes "Source files are kept …". */
  readonly description: string;
  /** It fills no disk of ours. */
  readonly isRemote: boolean;
  /** @throws SettingsError when the storage answers that it refuses the settings; one that is away is not waited for */
  readonly create: (settings: ReadSettings<Sections>, options: StorageOptions) => Promise<ObjectStorage>;
  /** The advice to an operator whose processes have different storages: the place of this process, and how all get the same. */
  readonly advice: (settings: ReadSettings<Sections>) => string;
}

/** An adapter without sections of its own. */
export type NoSections = object;

/** The settings that an adapter reads: its own sections, and those that adapters share. */
export type ReadSettings<Sections> = SharedSettings & {
  readonly [Section in keyof Sections]: z.output<Sections[Section]>;
};

interface SharedSettings extends Pick<
  EnvironmentSettings,
  'dataDirectory' | 'openaiApiKey' | 'rerankerApiKey' | 'constructorOptions'
> {
  readonly embedding: z.infer<typeof embedding>;
  readonly completion: z.infer<typeof completion>;
  readonly reranking: z.infer<typeof reranking>;
  readonly models: z.infer<typeof models>;
  readonly traces: z.infer<typeof traces>;
}
